# Needs only make and Python 3.11 or newer (with venv). Everything else goes into .venv (checkov beside it), from constraints.txt
# and tools/setup.sh. Every target installs what it needs by itself, and again only when one of the files in SETUP changes: a deployment
# least (READY), one of Kubernetes also kubectl and Helm (READY_EKS), tests and linters most (DEV). `make test` also runs
# tools/setup_nodes.sh, for the tests of jobs, programs and virtual nodes.

PYTHON ?= python3
TARGET ?= local
ARGS ?=

VENV := .venv
READY := $(VENV)/.ready
READY_EKS := $(VENV)/.ready-eks
DEV := $(VENV)/.ready-dev
SETUP := pyproject.toml constraints.txt tools/setup.sh tools/steps.sh
RUN := PATH="$(CURDIR)/$(VENV)/bin:$$PATH"
# Tests start many programs, each of which would compile itself again.
TESTS := $(RUN) PYTHONDONTWRITEBYTECODE=
SCRIPTS := .ci/run $(wildcard tools/*.sh) $(wildcard lifecycle/*.sh)
CHECKED := $(wildcard hyperpod_constructs app.py app_kubernetes.py app_network.py app_settings.py lifecycle bench tools examples tests)

YES_WORDS := 1 yes true on
NO_WORDS := 0 no false off
# Whether the variable $1 says yes; any other word than these is an error, so that no typing mistake means no.
said = $(if $(filter-out $(YES_WORDS) $(NO_WORDS),$($1)),$(error $1=$($1) is not known: write one of $(YES_WORDS) $(NO_WORDS)))$(filter $(YES_WORDS),$($1))
ORCHESTRATORS := slurm eks
unknown = $(filter-out $(ORCHESTRATORS),$(ORCHESTRATOR))
# The setting of the app for ORCHESTRATOR, of which any other word than these is an error.
orchestrator = $(if $(unknown),$(error ORCHESTRATOR=$(unknown) is not known: write one of $(ORCHESTRATORS)))$(ORCHESTRATOR:%=--context "orchestrator=%")
nodes = $(if $(call said,NODES),--nodes,$(if $(NODES),--no-nodes))
flags = --target "$(TARGET)" $(if $(call said,YES),--yes) $(orchestrator) $(foreach pair,$(CONTEXT),--context "$(pair)")
stack = $(if $(STACK),--stack "$(STACK)")
# The settings that say Kubernetes, in the context of this run or of cdk.json; what is installed once is kept up to date.
kubernetes = $(filter orchestrator=eks preset=kubernetes,$(CONTEXT)) $(shell grep -oE '"(orchestrator": *"eks|preset": *"kubernetes)"' cdk.json 2>/dev/null)
# A typing mistake is named before anything is installed.
known := $(orchestrator)$(call said,NODES)$(call said,YES)
ready = $(READY) $(if $(filter eks,$(ORCHESTRATOR))$(strip $(kubernetes))$(wildcard $(READY_EKS)),$(READY_EKS))

.DEFAULT_GOAL := help
.PHONY: help deploy destroy connect shell test test-fast coverage bench lint freeze clean

help: ## list the targets and their variables
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo '  TARGET=local|aws       where to: the embedded AWS on this machine (default), or your account'
	@echo '  ORCHESTRATOR=slurm|eks what schedules the jobs: Slurm (default), or Kubernetes'
	@echo '  CONTEXT="key=value …"  settings of the app for this run; cdk.json holds the others'
	@echo '  STACK=Cluster|Foundation|all   what is deployed (default all) or destroyed (default Cluster: the data stays)'
	@echo '  YES=1                  with TARGET=aws: do not ask'
	@echo '  NODES=1|0              with the embedded AWS: boot a virtual node for every instance, or none (root on Linux)'
	@echo '  ARGS="…"               further arguments of pytest (make test, test-fast, coverage) and of the benchmark (make bench)'

deploy: $(ready) ## deploy the app, then show what the service says exists
	@$(if $(call said,NODES),sh tools/setup_nodes.sh nodes)
	@$(RUN) hyperpod deploy $(flags) $(nodes) $(stack)

destroy: $(ready) ## take the cluster down, and list what stays
	@$(RUN) hyperpod destroy $(flags) $(stack)

connect: $(ready) ## open a shell on the controller, or with kubectl (TARGET=aws); print the command (local)
	@$(RUN) hyperpod connect --target "$(TARGET)" $(if $(filter local,$(TARGET)),--print)

shell: $(ready) ## open a shell on a local controller (virtual nodes), or with kubectl (Kubernetes); or run what is piped in
	@$(RUN) hyperpod connect --target local

test: $(DEV) ## install what tests of jobs and nodes need, and run every test
	@PYTHON="$(CURDIR)/$(VENV)/bin/python" sh tools/setup_nodes.sh
	@$(TESTS) pytest --numprocesses auto --dist loadfile --no-loadscope-reorder --record=build/tests.json $(ARGS)

test-fast: $(DEV) ## run the tests that need neither root nor Debian packages, in two minutes
	@$(TESTS) pytest --fast --numprocesses auto --dist loadfile $(ARGS)

coverage: $(DEV) ## measure the branch coverage of the tests that add to it; below 90 % is an error
	@$(TESTS) pytest --measured --numprocesses auto --dist loadfile --no-loadscope-reorder \
		--cov --cov-report term:skip-covered --cov-fail-under 90 $(ARGS)

bench: $(DEV) ## measure synthesis, the rules, local deployment and virtual nodes
	@$(RUN) python -m bench $(ARGS)

lint: $(DEV) ## ruff, mypy --strict, shell syntax (and shellcheck where it is installed)
	@$(RUN) ruff check .
	@$(RUN) ruff format --check .
	@$(RUN) mypy $(CHECKED)
	@for script in $(SCRIPTS); do bash -n "$$script" || exit 1; done
	@if command -v shellcheck >/dev/null; then shellcheck $(SCRIPTS); fi

freeze: $(DEV) ## write the versions installed in .venv to constraints.txt
	@$(VENV)/bin/pip freeze --exclude-editable | grep -E '^[A-Za-z0-9._-]+==[^ ]+$$' > constraints.txt

clean: ## stop the embedded AWS, undo what a crashed one left, and remove what was built (.venv stays)
	@if [ -x $(VENV)/bin/hyperpod ]; then $(RUN) hyperpod local stop; fi
	@rm -rf build dist cdk.out .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache

$(READY): $(SETUP)
	@PYTHON="$(PYTHON)" sh tools/setup.sh "$(VENV)"

$(READY_EKS): $(READY)
	@PYTHON="$(PYTHON)" sh tools/setup.sh "$(VENV)" eks

$(DEV): $(READY) tests/lint/checkov-requirements.txt
	@PYTHON="$(PYTHON)" sh tools/setup.sh "$(VENV)" dev
