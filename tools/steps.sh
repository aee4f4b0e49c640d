#!/bin/sh
# Messages and errors of setup.sh and setup_nodes.sh; both source this file in the root of the checkout.

log=build/setup.log

fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

# Runs a command after printing its title; if it fails, shows the end of its output.
step() {
    title=$1
    shift
    printf 'setup: %s\n' "$title"
    mkdir -p build
    if ! "$@" >"$log" 2>&1; then
        tail -n 30 "$log" >&2
        fail "$title failed (above: the end of $log); correct the cause, then run the same command again"
    fi
}
