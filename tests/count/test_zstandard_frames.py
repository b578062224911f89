"""A file packed by Zstandard is whole, or it is refused."""

import numpy as np
import pyarrow as pa
import pytest

import undercount as uc
from undercount.cli.main import main
from undercount.count.zstandard_frames import check_whole
from undercount.errors import InputError

ROWS = 60_000
COLUMNS = ["--label", "y", "--score", "s"]


def packed(data):
    """Pack by Arrow, which writes many blocks."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    rows = zip(rng.random(ROWS) < 0.1, rng.random(ROWS), strict=True)
    lines = [f"{int(label)},{score:.6f}" for label, score in rows]
    return ("y,s\n" + "\n".join(lines) + "\n").encode()


def read(path):
    found = uc.read_counts(path, label="y", score="s", unlabeled=0)
    return found.n_positive + found.n_unlabeled


@pytest.mark.parametrize("part", [0.2, 0.7, 0.9, 0.999, 1])
def test_a_file_that_was_cut_off_is_refused(tmp_path, data, part, capsys):
    """DuckDB read 38,548 of 60,000 rows, and said nothing."""
    path = tmp_path / "rows.csv.zst"
    whole = packed(data)
    path.write_bytes(whole[: int(part * len(whole))])
    if part == 1:
        assert read(path) == ROWS
        return
    with pytest.raises(InputError, match=r"rows.csv.zst must be whole and packed by Zstandard"):
        read(path)
    assert main(["evaluate", str(path), *COLUMNS, "--prevalence", "0.2"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_every_cut_of_frames_is_found(tmp_path):
    """Frames one after the other, one of notes between them, one of a repeated byte."""
    frames = [packed(b"y,s\n1,2\n"), b"\x53\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"]
    frames += [packed(b"0" * 400_000), packed(np.random.default_rng(1).bytes(300))]
    ends, whole = {0}, b""
    for frame in frames:
        whole += frame
        ends.add(len(whole))
    path = tmp_path / "all.zst"
    for size in [*range(200), *range(len(whole) - 320, len(whole) + 1)]:
        path.write_bytes(whole[:size])
        if size in ends:
            check_whole(str(path))
        else:
            with pytest.raises(InputError, match="cut off or damaged"):
                check_whole(str(path))
    path.write_bytes(whole + b"more")
    with pytest.raises(InputError, match="cut off or damaged"):
        check_whole(str(path))
