"""Stop at once at Ctrl-C, whatever library is at work: one line, and nothing half-written."""

import atexit
import os
import signal
import sys
import threading
from contextlib import suppress

# As by convention: ended by signal 2.
INTERRUPTED = 130
STOPPED = "stopped; no file is left half-written"
# Takes off a bar that is being drawn, and gives the cursor back that it hides.
CLEAR_LINE = "\r\x1b[2K\x1b[?25h"


def stop_at_interrupts() -> None:
    """Let a thread wait for Ctrl-C, and end the process when it comes.

    Python raises KeyboardInterrupt only when a library gives control back, which a sort or a query
    of many rows does not do for seconds, and a library may take it for an error of its own. A
    thread wakes as soon as the signal has come.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background
        return
    inside, outside = os.pipe()
    if os.name == "posix":
        os.set_blocking(outside, False)
    signal.set_wakeup_fd(outside, warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, lambda *_: None)
    # While Python puts its things away all is written and said, and the code of that stands.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_wait, args=(inside,), daemon=True).start()


def _wait(inside: int) -> None:
    while os.read(inside, 1) != bytes([signal.SIGINT]):
        pass
    # Looked up, not imported: Ctrl-C shall be heard before that takes its time.
    files = sys.modules.get("undercount.count.atomic_file")
    if files is not None and hasattr(files, "remove_unfinished"):  # else nothing is begun
        files.remove_unfinished()
    with suppress(OSError, ValueError):
        clear = CLEAR_LINE if sys.stderr.isatty() else ""
        os.write(sys.stderr.fileno(), f"{clear}{STOPPED}\n".encode())
    os._exit(INTERRUPTED)
