"""The bundled case is the simulation that its module describes."""

import duckdb
import numpy as np
import pytest

from undercount.data.fraud import fraud_path, fraud_truth_path, simulate_fraud


@pytest.mark.parametrize("path", [fraud_path(), fraud_truth_path()], ids=lambda path: path.stem)
def test_bundled_files_hold_the_draw_of_the_default_seed(path):
    columns = simulate_fraud()
    with duckdb.connect() as connection:
        bundled = connection.sql(f"SELECT * FROM '{path}' ORDER BY payment").fetchnumpy()  # noqa: S608 - ours
    for name, values in bundled.items():
        # Numbers with decimals were rounded, which the last bit of a logarithm may turn.
        step = {"amount": 0.01, "p_fraud": 1e-6}.get(name, 0)
        np.testing.assert_allclose(values, columns[name], rtol=1e-6, atol=1.01 * step)
        assert values.dtype == columns[name].dtype


def test_the_case_is_what_its_description_says():
    columns = simulate_fraud()
    truth, found = columns["truth"] == 1, columns["is_fraud"] == 1
    assert truth.size == 20_000
    assert not (found & ~truth).any()
    # Four standard errors around 4 % of the payments and 35 % of the frauds.
    assert truth.mean() == pytest.approx(0.04, abs=4 * np.sqrt(0.04 * 0.96 / 20_000))
    assert found[truth].mean() == pytest.approx(0.35, abs=4 * np.sqrt(0.35 * 0.65 / 800))
