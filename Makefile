# Paths are relative and quoted, and everything runs through `.venv/bin/python -m`: the project may
# live in a folder with a space in its name, where the scripts that pip installs don't start.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

# The Python that makes the virtual environment.
PYTHON ?= python3
# Processes that run tests at the same time.
TEST_WORKERS ?= 2
# More arguments for pytest, e.g. `make test ARGS="tests/engine -x"`.
ARGS ?=

PY := .venv/bin/python
# What runs in production.
ROOMS := engine wallets contracts matches bas_site clients/python/bas_client
SETUP := .venv/.installed node_modules/.installed web/dist/.built
COMPILE := $(PY) -m uv pip compile --universal --python-version 3.11 --generate-hashes \
  --no-annotate --quiet
export PYTHONUNBUFFERED := 1

.PHONY: help web run test lint demo reset bench chaos fuzz sbom races screenshots requirements openapi format setup

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile

setup: $(SETUP) ## Install the Python and npm parts (every command below does it when needed)

web: web/dist/.built ## Build the web front end (every command below does it when needed)

run: $(SETUP) ## Start the whole stack in the foreground; Ctrl-C stops it
	@exec $(PY) -m bas_site.devstack run

# The end-to-end tests share one stack, so they run in one process.
test: $(SETUP) ## Run the tests on services of their own (TEST_WORKERS=2, ARGS="...")
ifeq ($(ARGS),)
	@npm run --silent web:test
	@$(PY) -m pytest -n $(TEST_WORKERS) --ignore tests/e2e
	@$(PY) -m pytest tests/e2e
else
	@$(PY) -m pytest -n $(TEST_WORKERS) $(ARGS)
endif

lint: $(SETUP) ## Check style, types, imports, migrations, and that generated files are current
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m bandit --quiet --severity-level medium --configfile pyproject.toml --recursive $(ROOMS)
	@$(PY) .ci/advisories.py
	@$(PY) -m bas_site.devstack exec -- $(PY) -m mypy
	@cd clients/python && ../../$(PY) -m mypy
	@$(PY) -c 'from importlinter.cli import lint_imports_command as lint; lint()'
	@npm run --silent check
	@npm run --silent web:lint
	@$(PY) -m bas_site.devstack exec -- $(PY) manage.py makemigrations --check --dry-run
	@$(PY) -m bas_site.devstack exec -- $(PY) manage.py lintmigrations --quiet ok ignore
	@$(PY) -m bas_site.devstack exec -- $(PY) manage.py spectacular --validate --fail-on-warn \
	  --file .dev/openapi.yaml
	@diff -u docs/api/openapi.yaml .dev/openapi.yaml || { echo 'Run `make openapi`.' >&2; exit 1; }

demo: $(SETUP) ## Play the main job against a stack of its own, and print the story
	@exec $(PY) -m bas_site.devstack demo

reset: $(SETUP) ## Remove all data of `make run`
	@$(PY) -m bas_site.devstack reset

bench: $(SETUP) ## Print speeds, as ratios to baselines measured in the same run (ARGS="watcher")
	@$(PY) -m bench $(ARGS)

fuzz: $(SETUP) ## Call every operation of the API with odd requests, at length (FUZZ_EXAMPLES=200)
	@FUZZ_EXAMPLES=$${FUZZ_EXAMPLES:-200} $(PY) -m pytest tests/attacks/test_fuzz.py

sbom: $(SETUP) ## Write what the site is made of into .dev/sbom (CycloneDX)
	@mkdir -p .dev/sbom
	@$(PY) -m cyclonedx_py requirements requirements-production.txt --output-file .dev/sbom/python.json
	@npm sbom --sbom-format cyclonedx > .dev/sbom/npm.json
	@ls .dev/sbom

chaos: $(SETUP) ## Let chaos loose on the watcher (ARGS="--seeds 1-100 --deposits 200")
	@$(PY) -m tests.chaos $(ARGS)

races: $(SETUP) ## Race both players of a match, thousands of times (ARGS="--rounds 4000 --seed 2")
	@$(PY) -m tests.races $(ARGS)

screenshots: $(SETUP) ## Write pictures of each page to docs/pictures, from a stack of its own
	@$(PY) -m tests.e2e.browser.screenshots

requirements: $(SETUP) ## Compile requirements*.in into requirements*.txt, with hashes
	@$(COMPILE) --upgrade requirements.in --output-file requirements.txt
	@$(COMPILE) requirements-production.in --constraint requirements.txt \
	  --output-file requirements-production.txt

# The bundle is built from what this writes.
openapi: .venv/.installed node_modules/.installed ## Write docs/api/openapi.yaml from the code
	@mkdir -p docs/api
	@$(PY) -m bas_site.devstack exec -- $(PY) manage.py spectacular --validate --fail-on-warn \
	  --file docs/api/openapi.yaml

format: $(SETUP) ## Put the sources into the common format
	@$(PY) -m ruff format .
	@$(PY) -m ruff check --fix .
	@npm run --silent web:format

.venv/.installed: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or later is needed; $(PYTHON) is not. Name another by PYTHON=..." >&2; exit 1; }
	@test -x $(PY) || $(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

node_modules/.installed: package.json package-lock.json .npmrc
	@node -e 'const [a, b] = process.versions.node.split("."); process.exit(Number(a * 100 + +b < 2019))' || { \
	  echo "Node 20.19 or later is needed (https://nodejs.org)." >&2; exit 1; }
	npm ci
	@touch $@

# A file that goes away is noticed by its folder.
WEB_SOURCES := $(shell find web/src -path web/src/api/schema.ts -prune -o -print) \
  web/vite.config.ts web/tsconfig.json

web/dist/.built: node_modules/.installed docs/api/openapi.yaml $(WEB_SOURCES)
	@npm run --silent web:types > /dev/null
	@npm run --silent web:build -- --logLevel warn
	@touch $@
