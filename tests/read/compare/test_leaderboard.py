"""Ranks by hand: who is above whom beyond doubt decides which ranks are possible."""

import math

import numpy as np
import pytest

import undercount as uc
from undercount.read.compare.leaderboard import standings, tied_at_the_top, turn


def difference(one, other, value, adjusted):
    gap = uc.Estimate(value, value - 0.1, value + 0.2, 0.05)
    return uc.Difference("f1", one, other, gap, 0.9, adjusted, adjusted, False, math.nan)


def test_ranks_leave_open_what_p_values_do():
    values = {"c": 0.5, "a": 0.9, "b": 0.8}
    found = standings(
        values,
        [
            difference("c", "a", -0.4, 0.01),
            difference("c", "b", -0.3, 0.2),
            difference("a", "b", 0.1, 0.06),
        ],
        0.95,
    )
    assert [(s.name, s.rank, s.best_rank, s.worst_rank) for s in found] == [
        ("a", 1, 1, 2),  # above c beyond doubt
        ("b", 2, 1, 3),
        ("c", 3, 2, 3),
    ]
    assert tied_at_the_top(found) == ["a", "b"]
    assert found[0].behind is None
    assert (found[2].behind.one, found[2].behind.other) == ("a", "c")
    assert found[2].behind.difference.value == 0.4
    assert (found[2].behind.difference.low, found[2].behind.difference.high) == (0.2, 0.5)


def test_equal_values_share_a_rank_and_what_does_not_exist_is_last():
    values = {"a": math.nan, "b": 0.5, "c": 0.5}
    nothing = [
        difference("a", "b", math.nan, math.nan),
        difference("a", "c", math.nan, math.nan),
        difference("b", "c", 0.0, 1.0),
    ]
    found = standings(values, nothing, 0.95)
    assert [(s.name, s.rank) for s in found] == [("b", 1), ("c", 1), ("a", 1)]
    assert all((s.best_rank, s.worst_rank) == (1, 3) for s in found)


def test_turning_twice_changes_nothing():
    found = difference("a", "b", 0.1, 0.3)
    assert turn(turn(found)) == pytest.approx(found) or turn(turn(found)).one == "a"
    assert turn(found).better_probability == pytest.approx(0.1)


@pytest.mark.slow
def test_all_true_ranks_lie_between_in_most_samples():
    # Four models, two of them equal: the sets of all of them hold at once.
    rng, runs, inside = np.random.default_rng(2), 200, 0
    for _ in range(runs):
        truth = rng.random(1000) < 0.2
        y = np.where(truth & (rng.random(1000) < 0.5), 1, -1)
        signal = rng.normal(1.5 * truth)
        noises = {"a": 0.5, "b": 0.7, "c": 0.7, "d": 1.5}
        scores = {name: signal + rng.normal(0, noise, 1000) for name, noise in noises.items()}
        found = uc.compare(y, scores, unlabeled=-1, prevalence=0.2).leaderboard()
        allowed = {"a": {1}, "b": {2, 3}, "c": {2, 3}, "d": {4}}
        inside += all(allowed[s.name] & set(range(s.best_rank, s.worst_rank + 1)) for s in found)
    assert inside / runs >= 0.93
