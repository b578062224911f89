"""Where written text ends up: in new files whole, in links' targets, in pipes themselves."""

import os
import stat
import threading

import pytest

from undercount.count.atomic_file import write_text
from undercount.errors import InputError

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")


def test_new_and_old_files_hold_the_text(tmp_path):
    path = tmp_path / "page.html"
    for text in ("first é\n", "second\n"):
        write_text(path, text)
        assert path.read_bytes() == text.encode()
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("there", [True, False], ids=["file", "nothing"])
def test_link_stays_and_its_target_gets_the_text(tmp_path, there):
    folder = tmp_path / "kept"
    folder.mkdir()
    target, link = folder / "target.json", tmp_path / "link.json"
    if there:
        target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert not target.is_symlink()
    assert target.read_text() == "new"
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["kept", "link.json", "target.json"]


@needs_pipes
@pytest.mark.parametrize("linked", [False, True], ids=["itself", "link"])
def test_named_pipe_is_written_to_and_stays(tmp_path, linked):
    pipe = asked = tmp_path / "pipe"
    os.mkfifo(pipe)
    if linked:
        asked = tmp_path / "link"
        asked.symlink_to(pipe)
    # Open for both ends, so that neither a write nor a failed test waits for the other.
    handle = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        write_text(asked, "through\n")
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert os.read(handle, 100) == b"through\n"
    finally:
        os.close(handle)


@needs_pipes
def test_reader_of_a_pipe_sees_its_end(tmp_path):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()), daemon=True)
    reader.start()
    write_text(pipe, "all of it")
    reader.join(timeout=10)
    assert found == ["all of it"]


def test_dash_is_standard_output(capsys):
    write_text("-", "said\n")
    assert capsys.readouterr().out == "said\n"


def test_what_cannot_be_written_is_named(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path in (tmp_path, tmp_path / "none" / "page.html", loop):
        with pytest.raises(InputError, match=f"cannot write .*{path.name}"):
            write_text(path, "text")
    assert [each.name for each in tmp_path.iterdir()] == ["loop"]
