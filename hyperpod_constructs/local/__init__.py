"""The embedded AWS: one process on 127.0.0.1 that answers the CDK CLI; `server` starts and stops it."""
