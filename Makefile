# `make demo` and `make test` set everything up by themselves: an environment in .venv with the
# package and its extras, in the versions of requirements/. Needed beforehand: python3 (3.11 or
# newer), make, a package index. `make LOCK= ...` takes the newest versions that pyproject.toml allows.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOCK ?= requirements/dev.txt
PIP := -m pip --disable-pip-version-check
HASHED := install --quiet --require-hashes --requirement
BUILT := build/tools
EXTRAS := charts excel explorer fast ml stats tables
# One file for all systems and all versions of Python: markers choose, and all files of a version have a hash.
PINNED := compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade --custom-compile-command 'make lock'

.PHONY: demo quick test slow campaign mutation docs check format lock dist sbom clean

demo: $(READY)  ## run the main job on the bundled sample
	$(BIN)/qifsql demo

quick: $(READY)  ## run the tests that take less than a minute: every command, and what is pure
	QIFSQL_EFFORT=quick $(BIN)/python -m pytest -n auto --dist loadgroup -m quick

test: $(READY)  ## run the tests, without the slow ones
	$(BIN)/python -m pytest -n auto --dist loadgroup -m "not slow"

slow: $(READY)  ## run the slow tests, and all properties with many examples: an hour and more
	$(BIN)/python -m pytest -n auto --dist loadgroup -m slow
	QIFSQL_EFFORT=many HYPOTHESIS_PROFILE=default $(BIN)/python -m pytest -n auto --dist loadgroup -m "hypothesis and not slow"

campaign: $(READY)  ## hostile command lines, texts, damaged files, kills: an hour of two cores
	$(BIN)/python tests/campaign/run.py --lines 10000 --damaged 3000 --kills 50 --texts 50000 --out campaign.json

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

lock:  ## renew requirements/: the newest versions that pyproject.toml allows, with their hashes
	$(PYTHON) -m venv $(BUILT)/lock
	$(BUILT)/lock/bin/python $(PIP) install --quiet 'uv>=0.13'
	$(BUILT)/lock/bin/uv pip $(PINNED) pyproject.toml -o requirements/core.txt
	$(BUILT)/lock/bin/uv pip $(PINNED) pyproject.toml $(EXTRAS:%=--extra %) -o requirements/extras.txt
	$(BUILT)/lock/bin/uv pip $(PINNED) pyproject.toml --extra dev --group build -o requirements/dev.txt
	$(BUILT)/lock/bin/uv pip $(PINNED) --group build -o requirements/build.txt
	$(BUILT)/lock/bin/uv pip $(PINNED) --group sbom -o requirements/sbom.txt

dist:  ## build the wheel and the source distribution of the last commit: the same bytes on every machine
	$(PYTHON) -m venv $(BUILT)/dist
	$(BUILT)/dist/bin/python $(PIP) $(HASHED) requirements/build.txt
	rm -rf dist $(BUILT)/clone && git clone --quiet . $(BUILT)/clone
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BUILT)/dist/bin/python -m build --no-isolation --outdir dist $(BUILT)/clone

sbom: dist  ## list what the wheel needs, in the versions of requirements/core.txt: dist/qifsql.cdx.json (CycloneDX)
	$(PYTHON) -m venv $(BUILT)/sbom
	$(BUILT)/sbom/bin/python $(PIP) $(HASHED) requirements/sbom.txt
	$(PYTHON) -m venv --clear --without-pip $(BUILT)/installed
	$(BUILT)/sbom/bin/python $(PIP) --python $(BUILT)/installed $(HASHED) requirements/core.txt
	$(BUILT)/sbom/bin/cyclonedx-py environment $(BUILT)/installed --pyproject pyproject.toml \
		--mc-type application --output-reproducible --output-file dist/qifsql.cdx.json

clean:  ## remove what the other targets made
	rm -rf $(VENV) build demo-report dist site

$(READY): pyproject.toml $(LOCK)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "qifsql needs Python 3.11")'
	$(PYTHON) -m venv $(VENV)
ifeq ($(LOCK),)
	$(BIN)/python $(PIP) install --quiet --editable '.[dev]'
else
	$(BIN)/python $(PIP) $(HASHED) $(LOCK)
	$(BIN)/python $(PIP) install --quiet --no-deps --no-build-isolation --editable .
endif
	touch $(READY)
