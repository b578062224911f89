"""Pages of the documentation, made from written results."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from undercount.count.atomic_file import write_text
from undercount_reproductions.catalogue import ITEMS
from undercount_reproductions.result import Result

TITLES = {
    "claesen2015": "Claesen et al. (2015), Assessing binary classifiers using only positive and "
    "unlabeled data",
    "jain2017": "Jain et al. (2017), Recovering true classifier performance in positive-unlabeled "
    "learning",
    "tabatabaei2020": "Tabatabaei et al. (2020), Estimating the F1 score for learning from "
    "positive and unlabeled examples",
    "cook2016": "Cook (2016), ROC curves and nonrandom data",
    "aul2021": "AUL is a better optimization metric in PU learning (2021)",
}
NOT_HERE = "Not reproduced: whatever needs the private health data of Tabatabaei et al."
MADE = (
    "Made by `undercount_reproductions.pages.write_pages` on {date} from results of `undercount`."
)


def write_pages(
    results: str | Path, folder: str | Path, *, date: str, papers: Sequence[str] | None = None
) -> list[Path]:
    """Write one page a paper, and an index, from a folder of results.

    Parameters
    ----------
    results : path
        Folder that ``Result.write`` filled.
    folder : path
        Where the pages go; figures are copied beside them.
    date : str
        Day of the runs.
    papers : sequence of str, optional
        Papers whose pages are written; all by default. The index always lists all results.

    Returns
    -------
    list of Path
        The pages.

    Examples
    --------
    >>> import tempfile
    >>> from undercount_reproductions.catalogue import run_item
    >>> from undercount_reproductions.pages import write_pages
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = run_item("jain2017", "signtests").write(folder)
    ...     pages = write_pages(folder, folder, date="2026-11-15")
    >>> [page.name for page in pages]
    ['index.md', 'jain2017.md']
    """
    source, target = Path(results), Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    found = [
        Result.read(path)
        for item in ITEMS
        if (path := source / f"{item.paper}-{item.item}.json").exists()
    ]
    pages = [target / "index.md"]
    write_text(pages[0], _index(found, date))
    chosen = [paper for paper in TITLES if papers is None or paper in papers]
    for paper in [paper for paper in chosen if any(result.paper == paper for result in found)]:
        mine = [result for result in found if result.paper == paper]
        for result in mine:
            picture = source / f"{result.name}.svg"
            if picture.exists() and source != target:
                shutil.copyfile(picture, target / picture.name)
        pages.append(target / f"{paper}.md")
        write_text(pages[-1], _page(paper, mine, source, date))
    return pages


def _page(paper: str, results: Sequence[Result], source: Path, date: str) -> str:
    parts = [f"# {TITLES[paper]}\n", MADE.format(date=date) + "\n"]
    parts += [
        result.markdown(figure=(source / f"{result.name}.svg").exists()) for result in results
    ]
    return "\n".join(parts)


def _part(result: Result) -> str:
    return " (part of the data)" if any(n.startswith("Not run") for n in result.notes) else ""


def _index(results: Sequence[Result], date: str) -> str:
    done = {(result.paper, result.item): result for result in results}
    lines = ["# Tables and figures of the papers, reproduced", "", MADE.format(date=date), ""]
    lines += [
        (
            "Each number stands beside the published one, with the number of draws behind it; "
            "fewer draws than the paper's were run where the last column says so, and "
            "`undercount reproduce PAPER ITEM --runs N` goes on from there."
        ),
        "",
        "| paper | item | what | runs here | full |",
        "|---|---|---|---|---|",
    ]
    for item in ITEMS:
        result = done.get((item.paper, item.item))
        name = item.item if result is None else f"[{item.item}]({item.paper}.md)"
        runs = "not run yet" if result is None else f"{result.runs:,}{_part(result)}"
        lines.append(f"| {item.paper} | {name} | {item.what} | {runs} | {item.runs:,} |")
    return "\n".join([*lines, "", NOT_HERE]) + "\n"
