"""Run the coverage tests and write what they measured into docs/evidence/validity.md."""

import pathlib
import sys
import time

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "evidence" / "validity.md"

HEADER = """## Coverage of 95 % intervals

Share of nominal 95 % intervals that hold the truth, over {n_settings} settings: normal, skewed and
tied scores, prevalence {prevalences}, label frequency {frequencies}, {n_rows:,} rows (10 to 2,280
labels). The bar is .93 to .98 in every one of them (average precision from 40 labels on: .92).

Cells are smallest - largest. Threshold metrics: {n_threshold:,} repetitions a setting and each of
three thresholds, in all {n_settings} settings. Areas and losses: {n_area} repetitions a setting
({n_few} settings in the last four designs), so one number is known to ±.015; a number outside the
bar was measured again with {n_again:,} fresh repetitions (±.008), and that second number stands
here. The partial area goes up to a false-positive rate of {max_fpr}.

The scale of the partial area's lower end, and taking the mean of two variances for average
precision, were chosen on simulations like these (with other draws).
Measured in {minutes:.0f} minutes on one core by `python tests/validity/coverage_tables.py`.
"""


def main():
    """Run the slow tests, then write the tables from what they left in memory."""
    start = time.process_time()
    outcome = pytest.main([str(HERE / "test_coverage.py"), "-q", "--durations=5"])
    module = next(m for name, m in sys.modules.items() if name.endswith("test_coverage"))
    write_section("kinds", kinds_of_interval(module))
    tables = coverage_tables(module)
    minutes = (time.process_time() - start) / 60
    write_section("coverage", f"{header(module, minutes)}\n{missed(module)}\n{tables}")
    return outcome


def header(study, minutes):
    return HEADER.format(
        n_settings=len(study.GRID),
        prevalences=words(study.PREVALENCES),
        frequencies=words(study.FREQUENCIES),
        n_rows=study.N_ROWS,
        n_threshold=study.N_THRESHOLD,
        n_area=study.N_AREA,
        n_again=study.N_AGAIN,
        n_few=len(study.FEW),
        max_fpr=study.MAX_FPR,
        minutes=minutes,
    )


def words(numbers):
    texts = [f"{number:g}".lstrip("0") for number in numbers]
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def area_settings(study, name):
    return study.GRID if name in study.MAIN else study.FEW


def all_cells(study, name):
    """Yield (metric, setting, smallest, largest) of everything measured in a design."""
    for setting in study.GRID:
        low, high = study.point_coverage(setting, name)
        for metric, one, other in zip(study.POINTS, low, high, strict=True):
            yield metric, setting, one, other
    for setting in area_settings(study, name):
        for metric, share in zip(study.AREAS, study.area_coverage(setting, name)[0], strict=True):
            yield metric, setting, share, share


def missed(study):
    """Return the list of cells that miss the bar."""
    lines, n_cells = [], 0
    for name in study.DESIGNS:
        for metric, setting, one, other in all_cells(study, name):
            if not study.judged(metric, name):
                continue
            n_cells += 1
            least, most = study.bar(metric, setting)
            worst = one if one < least else other if other > most else None
            if worst is not None:
                labels = round(study.n_labels(setting))
                where = (
                    f"{setting[0]} scores, prevalence {setting[1]}, label frequency {setting[2]}"
                )
                lines.append(f"| {metric} | {name} | {where} | {labels:,} | {worst:.3f} |")
    title = f"### What misses the bar: {len(lines)} of {n_cells:,} numbers\n"
    if not lines:
        return f"{title}\nNothing.\n"
    head = ["| metric | design | setting | labels | coverage |", "|---|---|---|---|---|"]
    return "\n".join([title, *head, *lines]) + "\n"


def coverage_tables(study):
    """Return the tables of all metrics in all designs."""
    parts = []
    for name in study.DESIGNS:
        cells = list(all_cells(study, name))
        lines = [f"### {name.capitalize()}", ""]
        lines += ["| metric | mean | 40 labels or more | 10 labels |", "|---|---|---|---|"]
        for metric in (*study.POINTS, *study.AREAS):
            if study.judged(metric, name):
                lines.append(table_row(study, metric, [c for c in cells if c[0] == metric]))
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def table_row(study, metric, cells):
    spans = []
    for few in (False, True):
        chosen = [c for c in cells if (study.n_labels(c[1]) < 40) == few]
        span = ""
        if chosen:
            span = f"{min(c[2] for c in chosen):.3f} - {max(c[3] for c in chosen):.3f}"
        spans.append(span)
    mean = np.mean([(c[2] + c[3]) / 2 for c in cells])
    return f"| {metric} | {mean:.3f} | {spans[0]} | {spans[1]} |"


def kinds_of_interval(study):
    """Return the table of the three ways to bound the number of true positives."""
    lines = [
        "## Three intervals for a known number of positives",
        "",
        "Recall, and with it every threshold metric, of these very rows. An integer is bounded, so",
        "an interval that always covers covers more often than asked; the default is `wilson`.",
        f"{study.N_KINDS} repetitions a setting.",
        "",
        "| interval | 40 labels or more | 10 labels |",
        "|---|---|---|",
    ]
    for kind in ("wilson", "mid-p", "exact"):
        cells = []
        for setting in study.GRID:
            name = study.MAIN[0]
            low, high = study.point_coverage(setting, name, study.N_KINDS, kind, ("recall",))
            cells.append(("recall", setting, low[0], high[0]))
        lines.append(f"| {kind} |{table_row(study, 'recall', cells).split('|', 3)[3]}")
    return "\n".join(lines) + "\n"


def write_section(marker, text):
    """Put a section into the page, in place of its former version."""
    start, end = f"<!-- {marker}: start -->\n", f"<!-- {marker}: end -->\n"
    page = PAGE.read_text() if PAGE.exists() else "# Measured validity\n\n"
    block = f"{start}\n{text}\n{end}"
    if start in page:
        page = page[: page.index(start)] + block + page[page.index(end) + len(end) :]
    else:
        page = f"{page.rstrip()}\n\n{block}"
    PAGE.write_text(page)


if __name__ == "__main__":
    sys.exit(main())
