"""Put on the path of a job's processes: the disk is full whenever a file whose path has FULL_AT in it is flushed.

At its end, a rank says whether it has torch's compiler.
"""

import atexit
import errno
import os
import sys
from pathlib import Path
from typing import Any

import quick  # noqa: F401

flush = os.fsync


def full(fd: Any) -> None:
    number = fd if isinstance(fd, int) else fd.fileno()
    if os.environ["FULL_AT"] in str(Path(f"/proc/self/fd/{number}").readlink()):
        raise OSError(errno.ENOSPC, "No space left on device")
    flush(fd)


os.fsync = full


@atexit.register
def tell() -> None:
    if "RANK" in os.environ:
        sys.stderr.write(f"rank with the compiler: {'torch._dynamo.eval_frame' in sys.modules}\n")
