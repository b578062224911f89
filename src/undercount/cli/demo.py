"""Judge the bundled case, whose truth is known."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from undercount.cli.command import ALL_FINE, Command
from undercount.cli.evaluate import write_evaluations
from undercount.cli.options import DEBUG, QUIET
from undercount.cli.streams import print_text
from undercount.errors import InputError

if TYPE_CHECKING:
    from undercount.cli.arguments import Options
    from undercount.read.evaluation import Evaluation

# Thresholds at which somebody might look at payments; points are whole numbers.
DEMO_THRESHOLDS = {"p_fraud": 0.5, "rule_points": 7.0}
# Payments that somebody looks at in the story.
N_REVIEWS = 60


@click.command(cls=Command, short_help="Judge the bundled fraud case.")
@click.option("--open", "open_it", is_flag=True, help="Open the report in a browser.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False),
    default="report.html",
    show_default=True,
    help="Write the live report.",
)
@click.option(
    "--save",
    type=click.Path(dir_okay=False),
    help="Only write the payments, to a .csv or .parquet file to try the commands on.",
)
@QUIET
@DEBUG
def demo(html: str, save: str | None, *, open_it: bool, quiet: bool) -> int:
    """Evaluate a bundled, simulated fraud case and show how close the estimate came."""
    if save is not None:
        return save_fraud(save)
    from undercount.show.text import story_text, tell_story, truth_text  # noqa: PLC0415 - only when needed

    options: Options = {
        "json_file": None,
        "markdown": None,
        "csv_file": None,
        "html": html,
        "quiet": quiet,
    }
    options |= {"title": "Simulated card payments", "data_name": "fraud.csv, bundled"}
    evaluations, notes = evaluate_fraud()
    truths, hidden = find_truth(evaluations)
    story = tell_story(evaluations[0], review_fraud(), truths[0])
    write_evaluations(evaluations, notes, {**options, "story": story})
    if not quiet:
        print_text(truth_text(evaluations, truths, hidden))
        print_text(story_text(story))
    if open_it:
        click.launch(Path(html).resolve().as_uri())
    return ALL_FINE


def save_fraud(path: str) -> int:
    """Write the bundled payments, without the truth, in the format that the name asks for."""
    from undercount.count.atomic_file import replace_when_complete  # noqa: PLC0415 - when needed
    from undercount.count.sql import allow_only, open_database  # noqa: PLC0415
    from undercount.data.fraud import fraud_path  # noqa: PLC0415

    if not path.endswith((".csv", ".parquet")):
        raise InputError(f"--save must end in .csv or .parquet; got {path!r}")
    with replace_when_complete(path) as temporary, open_database() as connection:
        allow_only(connection, [fraud_path(), temporary])
        payments = connection.read_parquet(str(fraud_path()))
        write = payments.write_csv if path.endswith(".csv") else payments.write_parquet
        write(str(temporary))
    return ALL_FINE


def evaluate_fraud() -> "tuple[list[Evaluation], list[str]]":
    """Evaluate the two models of the bundled case, nothing told but the labels."""
    from undercount.cli.inputs import count_rows  # noqa: PLC0415 - DuckDB, only when needed
    from undercount.data.fraud import fraud_path  # noqa: PLC0415
    from undercount.infer.scored_rows import ScoredRows  # noqa: PLC0415 - only when needed
    from undercount.read.evaluate_models import evaluate_models  # noqa: PLC0415

    models = {}
    for name, threshold in DEMO_THRESHOLDS.items():
        reading = count_rows([str(fraud_path())], "is_fraud", [name], how={"knots": [threshold]})
        models[name] = ScoredRows(reading.counts[name], threshold)
    return list(evaluate_models(models).values()), reading.notes


def review_fraud() -> "Evaluation":
    """Evaluate the first model once more, after reviews whose verdicts are the hidden truth."""
    from undercount.count.files import read_numbers  # noqa: PLC0415 - DuckDB, only when needed
    from undercount.data.fraud import fraud_path, fraud_truth_path  # noqa: PLC0415
    from undercount.read.evaluate import evaluate  # noqa: PLC0415
    from undercount.read.plan.plan_reviews import plan_reviews  # noqa: PLC0415

    name, threshold = next(iter(DEMO_THRESHOLDS.items()))
    rows = read_numbers([str(fraud_path())], ["is_fraud", name])
    truth = read_numbers([str(fraud_truth_path())], ["truth"])["truth"]
    given = (rows["is_fraud"], rows[name])
    plan = plan_reviews(
        *given, unlabeled=0, budget=N_REVIEWS, goal="precision", threshold=threshold
    )
    reviews = plan.answered(truth[plan.rows])
    return evaluate(*given, unlabeled=0, threshold=threshold, reviews=reviews, name=name)


def find_truth(evaluations: "list[Evaluation]") -> tuple[list[list[float]], float]:
    """Return what the hidden truth gives for each row of the tables, and the hidden share."""
    from undercount.count.files import read_numbers  # noqa: PLC0415
    from undercount.counts import ScoreCounts  # noqa: PLC0415
    from undercount.data.fraud import fraud_path, fraud_truth_path  # noqa: PLC0415
    from undercount.infer.labelled import labelled_curve  # noqa: PLC0415 - only when needed

    scores = read_numbers([str(fraud_path())], [evaluation.name for evaluation in evaluations])
    truth = read_numbers([str(fraud_truth_path())], ["truth"])["truth"]
    values = []
    for evaluation in evaluations:
        curve = labelled_curve(ScoreCounts.from_rows(truth, scores[evaluation.name]))
        places = [curve if r.threshold is None else curve.at(r.threshold) for r in evaluation.rows]
        pairs = zip(places, evaluation.rows, strict=True)
        values.append([float(getattr(place, row.metric)) for place, row in pairs])
    counts = evaluations[0].counts
    return values, (float((truth == 1).sum()) - counts.n_positive) / counts.n_unlabeled
