#!/bin/sh
# Runs instead of the image's own set-up (OnCreate). The wait lets the end of the log reach CloudWatch.
set -eu
log="${NODE_SETUP_ROOT:-}/var/log/provision/provisioning.log"
mkdir -p "$(dirname "$log")"
cd "$(dirname "$0")"
if ! python3 -B -m node_setup on_create >>"$log" 2>&1; then
    sleep "${NODE_SETUP_UPLOAD_SECONDS:-60}"
    exit 1
fi
