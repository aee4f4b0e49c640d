#!/bin/sh
# Install the packages for tests of the example jobs, the virtual nodes and the door of the embedded AWS: .venv-examples, environments
# for the oldest and the newest Python of the programs for nodes, and (as root) Debian packages. A package that cannot be installed is
# named and left out; with CI=true, it is an error.
# usage: PYTHON=python3 tools/setup_nodes.sh      Safe to run again, even after a kill: complete parts stay.
#        tools/setup_nodes.sh nodes               only the Debian packages that virtual nodes need; an error without them
set -eu
cd "$(dirname "$0")/.."

NODE_PROGRAMS="systemd-nspawn mmdebstrap ip"
NODE_PACKAGES="systemd-container mmdebstrap iproute2 debian-archive-keyring"
PROGRAMS="systemd-nspawn mmdebstrap ip shellcheck chromium mariadb-install-db prometheus promtool"
PACKAGES="systemd-container mmdebstrap iproute2 shellcheck chromium mariadb-server prometheus"
EXAMPLES=.venv-examples
REQUIREMENTS=examples/requirements.txt
OLDEST=3.8
NEWEST="3.14 3.13 3.12 3.11"
PYTEST=pytest==8.3.5  # the last for Python 3.8

python=${PYTHON:-python3}
PIP_DISABLE_PIP_VERSION_CHECK=1
export PIP_DISABLE_PIP_VERSION_CHECK
# shellcheck source=tools/steps.sh
. tools/steps.sh

# Whether this Python runs and can make environments.
usable() {
    "$1" -c 'import ensurepip, venv' 2>/dev/null
}

interpreter() {
    for candidate in "python$1" "$(pyenv root 2>/dev/null)"/versions/"$1".*/bin/python; do
        if usable "$candidate"; then
            printf '%s' "$candidate"
            return
        fi
    done
}

# Whether the environment $1 is complete and was made from the text $2. A link belongs to its owner and is never cleared.
is_ready() {
    if [ -L "$1" ]; then
        printf 'setup: %s is a link and left as it is\n' "$1"
        return
    fi
    [ "$(cat "$1/.ready" 2>/dev/null)" = "$2" ] && "$1/bin/python" -c ''
}

# Tests skip missing parts; on a CI machine, nothing may be missing.
attempt() {
    if ! ("$@"); then
        [ "${CI:-}" != true ] || exit 1
        printf 'setup: goes on without it; the tests that need it are skipped\n' >&2
    fi
}

# Makes the environment $1 with the Python $2 from the text $3, by the remaining arguments for pip. An environment without its packages
# is removed, so that tests skip it.
environment() {
    made=$1 base=$2 text=$3
    shift 3
    if ! (
        step "virtual environment in $made" "$base" -m venv --clear "$made"
        step "pip install $* in $made" "$made/bin/pip" install "$@"
    ); then
        rm -rf "$made"
        exit 1
    fi
    printf '%s\n' "$text" >"$made/.ready"
}

examples() {
    wanted=$(cat "$REQUIREMENTS")
    ! is_ready "$EXAMPLES" "$wanted" || return 0
    usable "$python" || fail "$python does not run or has no venv module: name another one (PYTHON=python3.11 $0)"
    environment "$EXAMPLES" "$python" "$wanted" --requirement "$REQUIREMENTS"
}

# Nodes run their image's Python, so the programs for nodes are tested with interpreters of their own.
node_programs() {
    ! is_ready ".venv-node-$1" "$PYTEST" || return 0
    found=$(interpreter "$1")
    if [ -z "$found" ]; then
        printf 'setup: there is no Python %s, so the programs for nodes are not tested on it\n' "$1"
        return
    fi
    environment ".venv-node-$1" "$found" "$PYTEST" "$PYTEST"
}

newest() {
    for version in $NEWEST; do
        if [ -n "$(interpreter "$version")" ]; then
            printf '%s' "$version"
            return
        fi
    done
}

# Installs the packages $2 if one of the programs $1 is missing; $3 says what they are for.
debian_packages() {
    missing=
    for program in $1; do
        command -v "$program" >/dev/null || missing="$missing $program"
    done
    [ -n "$missing" ] || return 0
    lacking="$3$missing"
    command -v apt-get >/dev/null || fail "$lacking, and there is no apt-get: virtual nodes run on Debian and Ubuntu only"
    [ "$(id -u)" -eq 0 ] || fail "$lacking: run, as root, apt-get install $2"
    step "package lists" apt-get update -qq
    # shellcheck disable=SC2086
    step "Debian packages (missing:$missing)" \
        env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $2
}

if [ "${1:-}" = nodes ]; then
    debian_packages "$NODE_PROGRAMS" "$NODE_PACKAGES" "virtual nodes need"
    exit
fi
attempt examples
attempt node_programs "$OLDEST"
attempt node_programs "$(newest)"
attempt debian_packages "$PROGRAMS" "$PACKAGES" "virtual nodes, shell scripts, attacks by web pages, restores and metrics are tested with"
