# `make demo` and `make test` work in a fresh clone: each builds .venv when it is missing.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
CORE := $(VENV)/.core
STAMP := $(VENV)/.installed

# Without bytecode every import is several times slower; the environment may have turned it off.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo paper test test-all test-lowest plain bounds fuzz dist lint types compile-search compile-samplers unit docs bench bench-check contest size clean

demo: $(STAMP)
	$(BIN)/partita demo galaxies --force

# Every digit that the paper prints, from its own draws; says where it looks for them.
paper: $(STAMP)
	$(BIN)/python -m examples.paper

# What has one thread runs beside each other: installing, compiling, the type checker.
test:
	$(MAKE) --jobs 3 lint types unit

# Every Python of PYTHONS that is on the path, each in an environment of its own.
PYTHONS ?= python3.11 python3.12 python3.13
test-all: test-lowest
	@for python in $(PYTHONS); do \
	  if ! $$python -c "" 2>/dev/null; then echo "$$python is not there; skipped"; continue; fi; \
	  $(MAKE) unit PYTHON=$$python VENV=.venv-$$python || exit 1; \
	done

# The oldest versions that pyproject.toml allows, on the oldest Python.
test-lowest:
	test -x .venv-lowest/bin/python || $(firstword $(PYTHONS)) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --constraint tests/lowest.txt --editable ".[all]" pytest hypothesis pytest-xdist polars arviz-stats
	.venv-lowest/bin/pytest -n auto --dist loadfile tests/io tests/losses tests/partitions tests/credible tests/summary -W default

# The kernels' tests without compilation, so that coverage sees inside them. Fixed-width
# arithmetic wraps around on purpose there, of which NumPy warns. Kernels of samplers are left
# out: they call each other by machine address, which only compiled ones have.
PLAIN := $(addprefix tests/,partitions/test_lattice.py losses/test_hasse.py \
  partitions/test_similarity.py credible/test_items_and_clusters.py losses/test_kernels.py \
  io/test_text_kernels.py search/test_tables.py)
plain: $(STAMP)
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -W ignore::RuntimeWarning -k "not axioms and not threads and not twelve and not 70000 and not sums_in_chunks" --cov=partita.kernels --cov-config=tests/plain.cfg $(PLAIN)

# With bounds of arrays checked, in a cache of its own: a compiled kernel that reads beyond the end
# of an array goes on with what lies there.
bounds: $(STAMP)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(abspath $(VENV))/.bounds $(BIN)/pytest -n auto --dist loadfile tests/search tests/credible tests/representative tests/samplers/test_exact.py

# Every class of attack with fixed seeds, as a table; three to four minutes.
fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz

dist: $(STAMP)
	$(BIN)/python -m build --no-isolation --outdir dist
	$(BIN)/python -m twine check --strict dist/*

lint: $(STAMP)
	$(BIN)/ruff check src tests benchmarks docs examples
	$(BIN)/ruff format --check src tests benchmarks docs examples

types: $(STAMP)
	$(BIN)/mypy

# Kernels first, each once: test processes that meet the same ones would each compile them.
# From src, because partita itself is installed anew meanwhile.
compile-search: $(CORE)
	PYTHONPATH=src $(BIN)/python -m partita warmup summarize losses path
compile-samplers: $(CORE)
	PYTHONPATH=src $(BIN)/python -m partita warmup fit core representatives

unit: $(STAMP) compile-search compile-samplers
	$(BIN)/pytest -n auto --dist loadfile

docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going -j auto -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

bench: $(STAMP)
	$(BIN)/python -m benchmarks

# Fails if a quick job takes 1.6 times its stored multiple of the yardstick.
bench-check: $(STAMP)
	$(BIN)/python -m benchmarks --check

# Files, lines of code and of imports; what three calls walk through.
size: $(STAMP)
	$(BIN)/python -m benchmarks.size
	$(BIN)/python -m benchmarks.walks

# 200 posteriors of all kinds against the lowest values ever seen; fails above 2 misses in 1,000.
contest: $(STAMP)
	$(BIN)/python -m benchmarks.contest

# What partita cannot do without, with which compiling can begin. The pip that Python brings may
# be years old, and then chooses versions for twice as long; where there is no newer one, it does.
$(CORE): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	-$(BIN)/python -m pip install --quiet --no-compile --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile --editable .
	touch $(CORE)

$(STAMP): $(CORE)
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[all,dev]"
	touch $(STAMP)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/_build docs/generated docs/gallery
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
