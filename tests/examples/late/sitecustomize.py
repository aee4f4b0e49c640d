"""Put on the path of a job's processes: rank 1 comes to its data later than the others, as from a slow disk."""

import os
import sys
import time

import quick  # noqa: F401


def hold(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and str(arguments[0]).endswith(".npy") and os.environ.get("RANK") == "1":
        time.sleep(float(os.environ["LATE_SECONDS"]))


sys.addaudithook(hold)
