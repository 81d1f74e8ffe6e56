# What people and CI run. `make` lists it.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input
# Both what is installed and what builds it come in the versions of constraints.txt.
INSTALL = PIP_BUILD_CONSTRAINT=constraints.txt $(PIP) install --constraint constraints.txt

MADE = $(VENV)/.made
LOCAL = $(VENV)/.local
DEV = $(VENV)/.dev
MODEL = $(VENV)/.model

.DEFAULT_GOAL := help
.PHONY: help smoke test test-all lint check bench docs build format

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

smoke: $(LOCAL) $(MODEL) ## set up, then run nr.smoke on a small language model on this machine
	$(BIN)/evalcli eval run nr.smoke

test: $(DEV) ## set up, then run the tests
	$(BIN)/python -m pytest -n auto

test-all: $(DEV) $(MODEL) ## all tests, those that take long or need the small model too
	$(BIN)/python -m pytest -n auto -m "slow or not slow" --hypothesis-profile thorough

lint: $(DEV) ## format, lint, types, floors, docs unchanged
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.docs.refill --check

check: lint test ## all that must hold before a change is taken

bench: $(DEV) ## measure speed and size; fails where a limit is missed
	$(BIN)/python -m tests.bench.run

docs: $(DEV) ## refill the generated parts of README and docs
	$(BIN)/python -m tests.docs.refill

build: $(MADE) ## build the wheel into dist/
	PIP_BUILD_CONSTRAINT=constraints.txt $(PIP) wheel --no-deps --wheel-dir dist .

format: $(DEV) ## format, and mend what can be mended by itself
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "evalcli needs Python 3.11 or later, and $(PYTHON) is `$(PYTHON) -V 2>&1`;" \
	    "name another one: make PYTHON=python3.13" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(LOCAL): $(MADE) pyproject.toml constraints.txt
	$(INSTALL) --editable '.[local]'
	@touch $@

$(DEV): $(MADE) pyproject.toml constraints.txt
	$(INSTALL) --editable '.[dev]'
	@touch $@

$(MODEL): $(MADE) | $(LOCAL)
	$(BIN)/evalcli models fetch smollm2
	@touch $@
