# `make demo` and `make test` set everything up by themselves: an environment in .venv with the package,
# in the versions of requirements/. `make demo` installs what the main job and its charts need, the other
# targets add what tests need. Needed beforehand: python3 (3.11 or newer), make, a package index.
# `make LOCK= ...` takes the newest versions that pyproject.toml allows.
PYTHON ?= python3
# Where a machine forbids to keep compiled modules, each process would compile them again.
export PYTHONDONTWRITEBYTECODE :=
VENV ?= .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.demo
READY := $(VENV)/.ready
LOCK ?= requirements
PIP := -m pip --disable-pip-version-check
HASHED := install --quiet --require-hashes --requirement
# Python compiles a module when it is first imported: all modules at once take longer than `qifsql demo`.
LAZY := --no-compile
BUILT := build/tools
EXTRAS := charts excel explorer fast ml models stats tables
# One file for all systems and all versions of Python: markers choose, and all files of a version have a hash.
PINNED := compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade --custom-compile-command 'make lock'
PYTEST := $(BIN)/python -m pytest -n auto --dist loadgroup
# Sets of tests that need Java, a browser, an installation, a kernel, results of all kinds. Each is a target.
MARKED := spark browser supply notebooks reports
FAST := not slow and not spark and not browser and not supply and not notebooks and not reports
NONE := [ $$? -eq 5 ]  # pytest found no test: here that is no failure

.PHONY: demo extras quick test marked $(MARKED) slow campaign mutation release-check docs check lint format lock
.PHONY: dist rebuild sbom clean

demo: $(DEMO)  ## run the main job on the bundled sample
	$(BIN)/qifsql demo

extras: $(DEMO)  ## install all extras but Spark, in the versions of requirements/extras.txt
	$(BIN)/python $(PIP) $(HASHED) requirements/extras.txt

quick: $(READY)  ## run the tests that take less than a minute: every command, and what is pure
	QIFSQL_EFFORT=quick $(PYTEST) -m quick

test: $(READY)  ## run the tests, without the slow and the marked ones
	QIFSQL_ORDER=$(ORDER) $(PYTEST) -m "$(FAST)"

marked: $(READY)  ## run the marked tests, which are skipped where a program is missing
	$(PYTEST) -m "(spark or browser or supply or notebooks or reports) and not slow" || $(NONE)

$(MARKED): $(READY)  ## run one of these sets
	$(PYTEST) -m "$@ and not slow" || $(NONE)

slow: $(READY)  ## run the slow tests, and all properties with many examples: an hour and more
	$(PYTEST) -m slow
	QIFSQL_EFFORT=many HYPOTHESIS_PROFILE=default $(PYTEST) -m "hypothesis and not slow"

campaign: $(READY)  ## hostile command lines, texts, damaged files, strangers, kills: an hour of two cores
	$(BIN)/python tests/campaign/run.py --lines 10000 --damaged 3000 --kills 50 --texts 50000 --strangers 600 --out campaign.json

mutation: $(READY)  ## change one node of the SQL or of a measure at a time, and see that tests notice: hours
	$(BIN)/python tests/mutation/run.py --count 500 --seed 0 --report docs/develop/mutation.md

release-check:  ## all that is checked before a release, and each night: hours
	$(MAKE) rebuild
	$(MAKE) sbom
	$(MAKE) check
	$(MAKE) marked
	$(MAKE) slow
	$(MAKE) campaign
	$(MAKE) mutation

docs: $(READY)  ## write the reference, run the code of all pages, build the site in site/
	$(BIN)/python docs/reference.py
	$(BIN)/python docs/pages.py
	$(BIN)/python -m zensical build --strict

lint: $(READY)  ## lint, formatting, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tests/lint/run.py
	$(BIN)/mypy

check: lint test  ## lint, formatting, types, tests

format: $(READY)  ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock:  ## renew requirements/: the newest versions that pyproject.toml allows, with their hashes
	$(PYTHON) -m venv $(BUILT)/lock
	$(BUILT)/lock/bin/python $(PIP) install --quiet 'uv>=0.13'
	$(BUILT)/lock/bin/uv pip $(PINNED) pyproject.toml -o requirements/core.txt
	$(BUILT)/lock/bin/uv pip $(PINNED) pyproject.toml --extra charts --group build -o requirements/demo.txt
	$(BUILT)/lock/bin/uv pip $(PINNED) pyproject.toml $(EXTRAS:%=--extra %) -o requirements/extras.txt
	$(BUILT)/lock/bin/uv pip $(PINNED) pyproject.toml --extra dev --group build -o requirements/dev.txt
	$(BUILT)/lock/bin/uv pip $(PINNED) --group build -o requirements/build.txt
	$(BUILT)/lock/bin/uv pip $(PINNED) --group sbom -o requirements/sbom.txt

dist:  ## build the wheel and the source distribution of the last commit: the same bytes on every machine
	$(PYTHON) -m venv $(BUILT)/dist
	$(BUILT)/dist/bin/python $(PIP) $(HASHED) requirements/build.txt
	rm -rf dist $(BUILT)/clone && git clone --quiet . $(BUILT)/clone
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BUILT)/dist/bin/python -m build --no-isolation --outdir dist $(BUILT)/clone

rebuild: dist  ## build again in another folder, with another mask and time zone, and compare: equal bytes
	rm -rf $(BUILT)/another && git clone --quiet . $(BUILT)/another
	umask 077 && TZ=Asia/Tokyo $(MAKE) --directory $(BUILT)/another dist
	diff --recursive dist $(BUILT)/another/dist

sbom: dist  ## list what the wheel needs, in the versions of requirements/core.txt: dist/qifsql.cdx.json (CycloneDX)
	$(PYTHON) -m venv $(BUILT)/sbom
	$(BUILT)/sbom/bin/python $(PIP) $(HASHED) requirements/sbom.txt
	$(PYTHON) -m venv --clear --without-pip $(BUILT)/installed
	$(BUILT)/sbom/bin/python $(PIP) --python $(BUILT)/installed $(HASHED) requirements/core.txt
	$(BUILT)/sbom/bin/cyclonedx-py environment $(BUILT)/installed --pyproject pyproject.toml \
		--mc-type application --output-reproducible --output-file dist/qifsql.cdx.json

clean:  ## remove what the other targets made
	rm -rf $(VENV) build demo-report dist site

$(DEMO): pyproject.toml $(LOCK:%=%/demo.txt)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "qifsql needs Python 3.11")'
	$(PYTHON) -m venv $(VENV)
ifeq ($(LOCK),)
	$(BIN)/python $(PIP) install --quiet $(LAZY) --editable '.[charts]'
else
	$(BIN)/python $(PIP) $(HASHED) $(LOCK)/demo.txt $(LAZY)
	$(BIN)/python $(PIP) install --quiet --no-deps --no-build-isolation --editable .
endif
	touch $@

$(READY): $(DEMO) $(LOCK:%=%/dev.txt)
ifeq ($(LOCK),)
	$(BIN)/python $(PIP) install --quiet $(LAZY) --editable '.[dev]'
else
	$(BIN)/python $(PIP) $(HASHED) $(LOCK)/dev.txt $(LAZY)
endif
	touch $@
