"""Whether a file that was packed by Zstandard is whole, without unpacking it.

DuckDB takes the end of a file for the end of what was packed, so that a download that was cut off
would be read as fewer rows. The blocks of a frame (RFC 8878, section 3.1) say how long they are and
which is the last one.
"""

import os
from pathlib import Path
from typing import BinaryIO

from undercount.count.paths import PACKED
from undercount.errors import InputError

# Frames that hold notes of the packing program; the first byte may end in any digit.
SKIPPED, SKIPPED_FIRST = b"\x2a\x4d\x18", [bytes([first]) for first in range(0x50, 0x60)]
# Kinds of blocks that are known: raw rows, one byte that is repeated, packed rows.
RUN, LAST_KIND = 1, 2


def check_whole(path: str) -> None:
    """Refuse a file that ends before its last frame does."""
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        while file.tell() < size:
            if not _skip_frame(file) or file.tell() > size:
                raise InputError(
                    f"{path} must be whole and packed by Zstandard; it is cut off or damaged. "
                    "Fetch or pack it again (zstd -t tells more)"
                )


def _skip_frame(file: BinaryIO) -> bool:
    """Go to the end of a frame; False if what is there is none."""
    magic = file.read(4)
    if magic[:1] in SKIPPED_FIRST and magic[1:] == SKIPPED:
        length = file.read(4)
        file.seek(int.from_bytes(length, "little"), os.SEEK_CUR)
        return len(length) == 4  # noqa: PLR2004 - bytes of a length
    flags = file.read(1)
    if magic != PACKED["zst"] or not flags:
        return False
    single, checked = flags[0] >> 5 & 1, flags[0] >> 2 & 1
    content = (single, 2, 4, 8)[flags[0] >> 6]
    dictionary = (0, 1, 2, 4)[flags[0] & 3]
    file.seek((1 - single) + dictionary + content, os.SEEK_CUR)
    while header := file.read(3):
        block = int.from_bytes(header, "little")
        last, kind, size = block & 1, block >> 1 & 3, block >> 3
        if len(header) < 3 or kind > LAST_KIND:  # noqa: PLR2004 - bytes of a header
            return False
        file.seek(1 if kind == RUN else size, os.SEEK_CUR)
        if last:
            file.seek(4 * checked, os.SEEK_CUR)
            return True
    return False
