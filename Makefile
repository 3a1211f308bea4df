# Everything a contributor or a machine does, by one name each. Needs Python 3.11 or newer, git and (for one
# referee in the tests) node 20 or newer; all else is installed into this folder by `make setup`.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
# One more than two cores: many tests wait for programs that they started.
JOBS ?= 3
BIN := .venv/bin
TOOLS := .venv-tools
# A uv on the machine is used if there is one; else one of our own, of the version the build was tested with.
UV_VERSION := 0.13.9
UV := $(if $(shell uv --version 2>/dev/null),uv,$(TOOLS)/bin/uv)
UNIT := tests/model tests/notation tests/plan tests/conductor tests/console tests/github tests/worker tests/sandbox
PYTEST := $(BIN)/pytest -n $(JOBS) --dist worksteal
WORKFLOWS := $(wildcard workflows-templates/*.yml) $(wildcard .github/workflows/*.yml)
STANDINS := $(wildcard bot/sandbox/actions/standins/*/main.py)
# The linters find shellcheck and each other here; nobody's own PATH decides what is checked.
export PATH := $(CURDIR)/$(BIN):$(PATH)
# This folder's environment is meant, whichever one happens to be active.
unexport VIRTUAL_ENV
# Bytecode is worth having: tests, demo and benchmarks start hundreds of interpreters.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test test-unit stories soak mutants engines check format bench oracles oracles-check schema tables clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: .venv/.ready tests/node/node_modules/.ready ## install everything into this folder

demo: .venv/.ready ## the whole bot on this machine: issues to merged pull requests, no account needed
	@$(BIN)/cf sandbox demo

test: setup ## all tests but stories, and those that need the real agent programs
	@$(PYTEST)

test-unit: .venv/.ready ## the quick tests: values in, decisions out
	@$(PYTEST) -m "not e2e and not slow and not live and not story" $(UNIT)

stories: .venv/.ready ## what takes minutes under act: tasks that share a failure, and its one fix
	@$(BIN)/pytest -m story tests/sandbox/play

soak: .venv/.ready ## anything in any order, tens of thousands of times: SOAK=50000 make soak
	@CF_SOAK=$${SOAK:-20000} $(BIN)/pytest tests/conductor/test_anything.py tests/conductor/test_any_batch.py -q --timeout=0 --log-level=CRITICAL

mutants: .venv/.ready ## small changes to the rules that no test notices: MUTANTS=90 SEED=1 make mutants
	@$(BIN)/python -m scripts.mutants --count $${MUTANTS:-90} --seed $${SEED:-1}

engines: setup ## install the real agent programs into .engines, and hold each engine's promises against them (minutes, 3 GB)
	@$(BIN)/python -m scripts.install_engines
	$(BIN)/pytest -m live tests/worker/engines tests/sandbox/play/test_real_agents.py --timeout 600
	$(BIN)/python -m scripts.engine_table

check: .venv/.ready ## lint, format, types, import contracts, workflows, Dockerfile
	@$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	# The stand-ins for actions are programs of their own, each called main.
	for script in $(STANDINS); do $(BIN)/mypy "$$script"; done
	$(BIN)/lint-imports
	$(BIN)/zizmor --offline --no-progress --strict-collection --persona=pedantic --config zizmor.yml $(WORKFLOWS) action.yml
	$(BIN)/actionlint $(WORKFLOWS)
	# act has no opinion about Docker here: its words go to a file that is shown only if it objects.
	for workflow in $(WORKFLOWS); do
	  for question in --validate --list; do
	    $(BIN)/act $$question --strict -W "$$workflow" >.act.log 2>&1 || { cat .act.log; rm -f .act.log; exit 1; }
	  done
	done
	rm -f .act.log
	$(BIN)/hadolint Dockerfile

format: .venv/.ready ## let ruff rewrite what it can
	@$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/.ready ## how fast the hot paths are
	@for bench in planning makespan cold_start tick worker; do $(BIN)/python -m "benches.$$bench"; done

oracles: .venv/.ready ## rewrite GitHub's descriptions in tests/data/github from the npm packages
	@$(BIN)/python -m scripts.slim_openapi
	$(BIN)/python -m scripts.graphql_schema

oracles-check: .venv/.ready ## say whether tests/data/github still equals what the npm packages say
	@$(BIN)/python -m scripts.slim_openapi --check
	$(BIN)/python -m scripts.graphql_schema --check

schema: .venv/.ready ## rewrite docs/cf.schema.json from the readers of the configuration
	@$(BIN)/python -P -m bot validate --schema >docs/cf.schema.json

tables: .venv/.ready ## rewrite the tables of comment commands and events in docs/ from the model
	@$(BIN)/python -m scripts.docs_tables

clean: ## remove all that was installed or made
	@rm -rf .venv $(TOOLS) tests/node/node_modules build dist
	rm -rf .engines .mypy_cache .pytest_cache .ruff_cache .hypothesis .benchmarks .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.ready: pyproject.toml uv.lock
	@if ! command -v "$(UV)" >/dev/null; then
	  $(PYTHON) -m venv $(TOOLS)
	  $(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check "uv==$(UV_VERSION)"
	fi
	"$(UV)" sync --locked --all-extras --all-groups --python "$(PYTHON)"
	touch $@

tests/node/node_modules/.ready: tests/node/package.json tests/node/package-lock.json
	@cd tests/node && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
	touch node_modules/.ready
