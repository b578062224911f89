"""Measure what test_coverage.py tests, and write it into docs/evidence/validity.md.

`python tests/validity/coverage_tables.py KEPT.json [SECONDS]` goes on where an earlier call
stopped, and writes the page when nothing is left.
"""

import importlib.util
import itertools
import json
import pathlib
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).parent
SPEC = importlib.util.spec_from_file_location("test_coverage", HERE / "test_coverage.py")
study = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(study)
PAGE = HERE.parents[1] / "docs" / "evidence" / "validity.md"
FOREVER = 1e9
KINDS = ("wilson", "mid-p", "exact")

HEADER = """## Coverage of 80, 90 and 95 % intervals

Share of intervals that hold the truth, over {n_settings} settings: normal, skewed and tied
scores, prevalence {prevalences}, label frequency {frequencies}, {n_rows:,} rows (10 to 2,280
labels). The bar at 95 % is .93 to .98 in every one of them (average precision from 40 labels
on: .92).

Cells are smallest - largest. Threshold metrics: {n_threshold:,} repetitions a setting and each of
three thresholds, in all {n_settings} settings. Areas and losses: {n_area} repetitions a setting
({n_measured} settings in the order of the tables below), so one number is known to ±.022 at 95 %
and ±.04 at 80 %; a number outside the bar was measured again with {n_again:,} fresh repetitions
(±.010), and that second number stands here. The ends of a span are the extremes of up to 45
numbers, so part of its length is the chance of the simulation; the means are known better. The
partial area goes up to a false-positive rate of {max_fpr}.

The scale of the partial area's lower end, and taking the mean of two variances for average
precision, were chosen on simulations like these (with other draws).
Measured in {minutes:.0f} minutes on one core by `python tests/validity/coverage_tables.py`.
"""


def main(kept, seconds=FOREVER):
    """Measure for some seconds; write the tables if nothing is left to measure."""
    kept = pathlib.Path(kept)
    found = json.loads(kept.read_text()) if kept.exists() else {"seconds": 0.0}
    start = last = time.process_time()
    for key, measure in measurements():
        if key not in found:
            found[key] = np.asarray(measure()).tolist()
            now = time.process_time()
            found["seconds"] += now - last
            last = now
            part = kept.with_suffix(".part")  # a call that is stopped leaves no half of a file
            part.write_text(json.dumps(found))
            part.replace(kept)
        if last - start > float(seconds):
            return f"stopped after {key}"
    return write_page(found)


def write_page(found):
    """Write what was measured; settings of areas that were not are left out."""
    tables = Tables(found)
    write_section("kinds", tables.kinds())
    write_section("coverage", f"{tables.header()}\n{tables.missed()}\n{tables.designs()}")
    return 0


def measurements():
    """Yield the name of each measurement and what makes it, the quick ones first."""
    main = study.MAIN[0]
    for name, setting in itertools.product(study.DESIGNS, study.GRID):
        yield f"points {name} {setting}", lambda n=name, s=setting: study.point_coverage(s, n)
    for kind, setting in itertools.product(KINDS, study.GRID):
        yield (
            f"{kind} {setting}",
            lambda k=kind, s=setting: study.point_coverage(s, main, study.N_KINDS, k, ("recall",)),
        )
    for name in sorted(study.DESIGNS, key=lambda each: each in study.MAIN):
        for setting in area_settings(name):
            yield (
                f"areas {name} {setting}",
                lambda n=name, s=setting: study.area_coverage(s, n)[0],
            )


def area_settings(name):
    """Return the settings of areas, the few and the many labels before those between."""
    if name not in study.MAIN:
        return study.FEW
    return sorted(study.GRID, key=lambda setting: setting[2] in (0.2, 0.8))


def words(numbers):
    texts = [f"{number:g}".lstrip("0") for number in numbers]
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def decimals(share):
    return f"{share:.3f}".removeprefix("0")


def span(low, high):
    return f"{decimals(low)} - {decimals(high)}"


class Tables:
    """Write what was measured; a cell is (metric, setting, smallest, largest), by level."""

    def __init__(self, found):
        self.found = {key: np.array(value) for key, value in found.items()}
        self.minutes = found["seconds"] / 60

    def header(self):
        return HEADER.format(
            n_settings=len(study.GRID),
            prevalences=words(study.PREVALENCES),
            frequencies=words(study.FREQUENCIES),
            n_rows=study.N_ROWS,
            n_threshold=study.N_THRESHOLD,
            n_area=study.N_AREA,
            n_again=study.N_AGAIN,
            n_measured=", ".join(str(len(self.measured(name))) for name in study.DESIGNS),
            max_fpr=study.MAX_FPR,
            minutes=self.minutes,
        )

    def cells(self, name):
        """Yield everything measured in a design."""
        for setting in study.GRID:
            low, high = self.found[f"points {name} {setting}"]
            for metric, one, other in zip(study.POINTS, low, high, strict=True):
                if study.judged(metric, name):
                    yield metric, setting, one, other
        for setting in self.measured(name):
            shares = self.found[f"areas {name} {setting}"]
            for metric, share in zip(study.AREAS, shares, strict=True):
                yield metric, setting, share, share

    def measured(self, name):
        """Return the settings of which areas were measured."""
        return [s for s in area_settings(name) if f"areas {name} {s}" in self.found]

    def missed(self):
        """Return the list of cells that miss the bar at 95 %."""
        lines, n_cells = [], 0
        for name in study.DESIGNS:
            for metric, setting, one, other in self.cells(name):
                n_cells += 1
                least, most = study.bar(metric, setting)
                worst = one[-1] if one[-1] < least else other[-1] if other[-1] > most else None
                if worst is not None:
                    labels = round(study.n_labels(setting))
                    where = "{} scores, prevalence {}, label frequency {}".format(*setting)
                    lines.append(
                        f"| {metric} | {name} | {where} | {labels:,} | **{decimals(worst)}** |"
                    )
        title = f"### What misses the bar: {len(lines)} of {n_cells:,} numbers\n"
        if not lines:
            return f"{title}\nNothing.\n"
        head = ["| metric | design | setting | labels | coverage |", "|---|---|---|---|---|"]
        return "\n".join([title, *head, *lines]) + "\n"

    def designs(self):
        """Return the tables of all metrics in all designs; metrics of equal rows share one."""
        parts = []
        for name in study.DESIGNS:
            cells = list(self.cells(name))
            rows = {}
            for metric in dict.fromkeys(cell[0] for cell in cells):
                own = [cell for cell in cells if cell[0] == metric]
                rows.setdefault(row_of_spans(own), []).append(metric)
            lines = [f"### {name.capitalize()}", "", *HEAD]
            lines += [f"| {', '.join(metrics)} | {row}" for row, metrics in rows.items()]
            parts.append("\n".join(lines) + "\n")
        return "\n".join(parts)

    def kinds(self):
        """Return the table of the three ways to bound the number of true positives."""
        lines = [
            "## Three intervals for a known number of positives",
            "",
            "Recall, and with it every threshold metric, of these very rows. An integer is",
            "bounded, so an interval that always covers covers more often than asked; the",
            f"default is `wilson`. {study.N_KINDS} repetitions a setting.",
            "",
            HEAD[0].replace("metric", "interval"),
            HEAD[1],
        ]
        for kind in KINDS:
            cells = []
            for setting in study.GRID:
                low, high = self.found[f"{kind} {setting}"]
                cells.append(("recall", setting, low[0], high[0]))
            lines.append(f"| {kind} | {row_of_spans(cells)}")
        return "\n".join(lines) + "\n"


HEAD = (
    "| metric | mean at .8 / .9 / .95 | 40+ labels: .8 | .9 | .95 | 10 labels: .8 | .9 | .95 |",
    "|---|---|---|---|---|---|---|---|",
)


def row_of_spans(cells):
    """Return the cells of a row: means, then the spans with more and with fewer labels."""
    mean = np.mean([(low + high) / 2 for _, _, low, high in cells], axis=0)
    texts = [" / ".join(decimals(each) for each in mean)]
    for few in (False, True):
        chosen = [cell for cell in cells if (study.n_labels(cell[1]) < 40) == few]
        for level in range(len(study.LEVELS)):
            ends = [cell[2][level] for cell in chosen], [cell[3][level] for cell in chosen]
            texts.append(span(min(ends[0]), max(ends[1])) if chosen else "")
    return " | ".join(texts) + " |"


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
    sys.exit(main(*sys.argv[1:]))
