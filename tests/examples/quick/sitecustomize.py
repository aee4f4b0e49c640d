"""Put on the path of all jobs' processes; another one that a test puts before it also imports `quick`."""

import quick  # noqa: F401
