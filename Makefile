# `make demo` and `make test` set everything up by themselves: an environment in .venv with the
# package and its extras. Needed beforehand: python3 (3.11 or newer), make, a package index.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo quick test slow campaign mutation docs check format clean

demo: $(READY)  ## run the main job on the bundled sample
	$(BIN)/qifsql demo

quick: $(READY)  ## run the tests that take less than a minute: every command, and what is pure
	QIFSQL_EFFORT=quick $(BIN)/python -m pytest -n auto --dist loadgroup -m quick

test: $(READY)  ## run the tests, without the slow ones
	$(BIN)/python -m pytest -n auto --dist loadgroup -m "not slow"

slow: $(READY)  ## run the slow tests, and all properties with many examples: an hour and more
	$(BIN)/python -m pytest -n auto --dist loadgroup -m slow
	QIFSQL_EFFORT=many HYPOTHESIS_PROFILE=default $(BIN)/python -m pytest -n auto --dist loadgroup -m "hypothesis and not slow"

campaign: $(READY)  ## hostile command lines, damaged files, kills: half an hour of two cores
	$(BIN)/python tests/campaign/run.py --lines 10000 --damaged 300 --kills 50 --out campaign.json

mutation: $(READY)  ## change one node of the SQL or of a measure at a time, and see that tests notice: hours
	$(BIN)/python tests/mutation/run.py --count 500 --seed 0 --report docs/develop/mutation.md

docs: $(READY)  ## write the reference, run the code of all pages, build the site in site/
	$(BIN)/python docs/reference.py
	$(BIN)/python docs/pages.py
	$(BIN)/python -m zensical build --strict

check: $(READY)  ## lint, formatting, types, tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(MAKE) test

format: $(READY)  ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove what the other targets made
	rm -rf $(VENV) demo-report site

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "qifsql needs Python 3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(READY)
