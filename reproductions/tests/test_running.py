"""Draws: seeded one by one, on any backend, kept when finished."""

import pathlib
import sys

import pytest

import undercount as uc
from undercount_reproductions.catalogue import run_item
from undercount_reproductions.running import Request


def test_same_seed_same_result_whatever_the_jobs():
    once = run_item("cook2016", "table2", runs=3, seed=5)
    again = run_item("cook2016", "table2", runs=3, seed=5, jobs=2, backend="threading")
    other = run_item("cook2016", "table2", runs=3, seed=6)
    assert once.rows == again.rows
    assert once.rows != other.rows


def where_it_ran(_, generator):
    from distributed import get_worker  # noqa: PLC0415 - an optional package

    return {"value": float(generator.random()), "worker": get_worker().name}  # raises elsewhere


def test_dask_by_name():
    distributed = pytest.importorskip("distributed")
    request = Request("paper", "item", 4, backend="dask")
    cluster = {"processes": False, "n_workers": 2, "threads_per_worker": 1}
    with distributed.Client(**cluster, dashboard_address=":0") as client:
        found = request.draws(where_it_ran, [{"n": 1}], block=1)[0]
        workers = {worker["name"] for worker in client.scheduler_info()["workers"].values()}
    assert {draw["worker"] for draw in found} <= workers
    expected = [float(request.generator({"n": 1}, draw).random()) for draw in range(4)]
    assert [draw["value"] for draw in found] == expected


def random_number(_, generator):
    return {"value": float(generator.random())}


def test_backend_that_gives_all_results_at_once():
    """Ray's is one; it is not installed here."""
    import joblib  # noqa: PLC0415 - of these two alone
    from joblib.parallel import ThreadingBackend  # noqa: PLC0415

    class AllAtOnce(ThreadingBackend):
        supports_return_generator = False

    joblib.register_parallel_backend("all at once", AllAtOnce)
    told = []
    request = Request(
        "paper",
        "item",
        4,
        jobs=2,
        backend="all at once",
        progress=lambda done, of: told.append((done, of)),
    )
    plain = Request("paper", "item", 4)
    settings = [{"place": 1}, {"place": 2}]
    found, expected = (r.draws(random_number, settings, block=2) for r in (request, plain))
    assert found == expected
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_missing_cluster_package_is_named(backend, monkeypatch):
    package = {"dask": "distributed", "ray": "ray"}[backend]
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.util.joblib", None)
    with pytest.raises(uc.InputError, match=f"backend '{backend}' needs the package {package}"):
        run_item("cook2016", "table2", runs=1, backend=backend)


def count_calls(setting, generator, folder):
    path = pathlib.Path(folder) / "calls.txt"
    with path.open("a") as file:
        file.write("x")
    if (pathlib.Path(folder) / "fail").exists() and setting["n"] == 2:
        raise KeyboardInterrupt
    return {"value": float(generator.random()) + setting["n"]}


def test_data_of_each_setting_is_made_only_when_needed(tmp_path):
    asked = []

    def given(setting):
        asked.append(setting["n"])
        return (str(tmp_path),)

    request, settings = Request("paper", "item", 2, out=tmp_path), [{"n": 1}, {"n": 2}]
    first = request.draws(count_calls, settings[:1], block=2, given=given)
    both = request.draws(count_calls, settings, block=2, given=given)
    assert asked == [1, 2]  # the first setting's draws were kept
    assert both[0] == first[0]
    assert both[1][0]["value"] > 2


def test_finished_draws_are_kept(tmp_path):
    seen = []
    request = Request(
        "paper", "item", 4, out=tmp_path, progress=lambda *numbers: seen.append(numbers)
    )
    settings = [{"n": 1}, {"n": 2}]
    (tmp_path / "fail").touch()
    with pytest.raises(KeyboardInterrupt):
        request.draws(count_calls, settings, str(tmp_path), block=2)
    (tmp_path / "fail").unlink()
    before = len((tmp_path / "calls.txt").read_text())
    found = request.draws(count_calls, settings, str(tmp_path), block=2)
    # Four draws of the first setting were finished; only the second's are made again.
    assert before == 5
    assert len((tmp_path / "calls.txt").read_text()) == before + 4
    assert seen[-1] == (4, 4)
    assert not list((tmp_path / "finished").glob("*.json.*"))
    fresh = Request("paper", "item", 4).draws(count_calls, settings, str(tmp_path), block=3)
    assert found == fresh  # neither keeping nor blocks change a number
