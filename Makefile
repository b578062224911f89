# Each target makes .venv with what it needs; nothing but Python >= 3.11 is assumed.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test quick pytest coverage test-oldest lint docs bench fuzz faults validity reproduce clean
.DELETE_ON_ERROR:

.venv/pip:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "undercount needs Python 3.11 or newer, this is " + sys.version.split()[0])'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

.venv/core: .venv/pip pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

# With what the documentation needs, so that one look at the index serves both.
.venv/test: .venv/pip pyproject.toml reproductions/pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[test,lint,docs]' --editable ./reproductions
	touch $@ .venv/docs

# The browser tests need Chromium, those of accessibility axe-core besides; without them they are
# skipped, and say so.
.venv/browser: .venv/pip
	command -v chromium >/dev/null || command -v google-chrome >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1 \
	  || echo "*** Chromium could not be installed: the browser tests will be skipped ***"
	npm install --silent --no-save --no-package-lock --prefix .venv axe-core@4.10.3 \
	  || echo "*** axe-core could not be installed: accessibility will not be tested ***"
	touch $@

# Counts inside a database are tested on a real PostgreSQL, likewise. One apt-get at a time.
.venv/database: .venv/pip | .venv/browser
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq postgresql; } >/dev/null 2>&1 \
	  || echo "*** PostgreSQL could not be installed: its tests will be skipped ***"
	touch $@

.venv/docs: .venv/pip pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[docs,plot]'
	touch $@

.venv/reproduce: .venv/pip pyproject.toml reproductions/pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[plot]' --editable ./reproductions
	touch $@

.venv/bench: .venv/pip pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	touch $@

demo: .venv/core
	$(BIN)/undercount demo

lint: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# One process a core: threads of their own would only wait for each other.
pytest quick coverage validity test-oldest fuzz: export OMP_NUM_THREADS = 1
pytest quick coverage validity test-oldest fuzz: export OPENBLAS_NUM_THREADS = 1
# Hundreds of processes load the package: compiling it each time would take longer than the tests.
pytest quick coverage: export PYTHONDONTWRITEBYTECODE =
# Neighbours run in the same process, so that what a file of tests starts is started once.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal -m 'not slow'

# Packages, then everything else, side by side: mypy and mkdocs use one core each.
test:
	$(MAKE) --no-print-directory --jobs 2 .venv/test .venv/browser .venv/database
	$(MAKE) --no-print-directory --jobs 3 lint docs pytest

pytest: .venv/test .venv/browser .venv/database
	$(PYTEST)

# The daily loop: nouns, laws, the matrix, verdicts and words, without browsers, engines and simulations.
QUICK := tests/golden tests/laws tests/matrix tests/test_layers.py tests/test_public_api.py tests/test_shares.py \
  tests/test_counts.py tests/test_curve.py tests/test_errors.py tests/test_estimate.py \
  tests/read/test_verdict.py tests/read/test_requirement.py tests/read/test_results.py \
  tests/show/test_text.py tests/show/test_plain_words.py
quick: .venv/test
	$(BIN)/ruff check --quiet .
	$(PYTEST) $(QUICK)

# Which lines no test reaches: following each of them costs half as much again as the tests.
coverage: .venv/test .venv/browser .venv/database
	$(PYTEST) --cov --cov-report=term:skip-covered

# The oldest versions that pyproject.toml allows, in an environment of their own.
test-oldest:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --upgrade pip
	.venv-oldest/bin/python -m pip install --quiet --editable '.[test]' --editable ./reproductions --constraint oldest.txt
	.venv-oldest/bin/python -m pytest -n auto -m 'not slow and not spark and not browser'

# A million random cases at every door, or as many as an hour allows; other ones by SEED=7.
fuzz: .venv/test
	$(BIN)/python -m tests.fuzz --cases 1000000 --seconds $(or $(SECONDS_ALLOWED),3600) --seed $(or $(SEED),0)

# Kills, interrupts, full disks, read-only folders and little memory: nothing may be lost.
faults: .venv/test
	$(BIN)/python -m tests.faults

validity: .venv/test
	$(BIN)/python -m pytest -n auto -m slow

# Tables and figures of the papers: the list, or one of them, as in ARGS="jain2017 figure1".
reproduce: .venv/reproduce
	$(BIN)/undercount reproduce $(ARGS)

docs: .venv/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: .venv/bench
	for script in benchmarks/[a-z]*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean:
	rm -rf .venv .venv-oldest site build dist reproductions/dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
