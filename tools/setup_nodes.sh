#!/bin/sh
# Install what the virtual nodes and the example jobs are tested with: Debian packages (as root), .venv-examples with CPU torch, and
# an environment for the oldest and the newest Python of the programs for nodes.
# usage: PYTHON=python3 tools/setup_nodes.sh      Safe to run again, also after a kill: what is there is left.
set -eu
cd "$(dirname "$0")/.."

PROGRAMS="systemd-nspawn mmdebstrap ip shellcheck"
PACKAGES="systemd-container mmdebstrap iproute2 shellcheck"
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

# Whether that Python runs and can make environments.
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

# Whether the environment $1 is whole and was made from the text $2; one behind a link is its owner's, and never cleared.
is_ready() {
    if [ -L "$1" ]; then
        printf 'setup: %s is a link and left as it is\n' "$1"
        return
    fi
    [ "$(cat "$1/.ready" 2>/dev/null)" = "$2" ] && "$1/bin/python" -c ''
}

debian_packages() {
    missing=
    for program in $PROGRAMS; do
        command -v "$program" >/dev/null || missing="$missing $program"
    done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null || fail "virtual nodes need$missing, and there is no apt-get: they run on Debian and Ubuntu only"
    [ "$(id -u)" -eq 0 ] || fail "virtual nodes need$missing: run, as root, apt-get install $PACKAGES"
    step "package lists" apt-get update -qq
    # shellcheck disable=SC2086
    step "Debian packages for virtual nodes:$missing" \
        env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $PACKAGES
}

examples() {
    wanted=$(cat "$REQUIREMENTS")
    ! is_ready "$EXAMPLES" "$wanted" || return 0
    usable "$python" || fail "$python does not run or has no venv module: name another one (PYTHON=python3.11 $0)"
    step "virtual environment in $EXAMPLES" "$python" -m venv --clear "$EXAMPLES"
    step "packages of $REQUIREMENTS (CPU torch has to be on an index that pip is configured with)" \
        "$EXAMPLES/bin/pip" install --requirement "$REQUIREMENTS"
    printf '%s\n' "$wanted" >"$EXAMPLES/.ready"
}

# Nodes run what their image brings, so the programs for nodes are tested by an interpreter of their own.
node_environment() {
    environment=.venv-node-$1
    ! is_ready "$environment" "$PYTEST" || return 0
    found=$(interpreter "$1")
    if [ -z "$found" ]; then
        printf 'setup: there is no Python %s, so the programs for nodes are not tested on it\n' "$1"
        return
    fi
    step "virtual environment in $environment" "$found" -m venv --clear "$environment"
    step "$PYTEST in $environment" "$environment/bin/pip" install "$PYTEST"
    printf '%s\n' "$PYTEST" >"$environment/.ready"
}

newest() {
    for version in $NEWEST; do
        if [ -n "$(interpreter "$version")" ]; then
            printf '%s' "$version"
            return
        fi
    done
}

debian_packages
examples
node_environment "$OLDEST"
node_environment "$(newest)"
