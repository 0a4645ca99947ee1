# `make demo` and `make test` work in a fresh clone: each builds .venv when it is missing.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Without bytecode every import is several times slower; the environment may have turned it off.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint types unit docs bench clean

demo: $(STAMP)
	$(BIN)/partita demo galaxies --force

test: lint types unit

lint: $(STAMP)
	$(BIN)/ruff check src tests benchmarks docs examples
	$(BIN)/ruff format --check src tests benchmarks docs examples

types: $(STAMP)
	$(BIN)/mypy

unit: $(STAMP)
	$(BIN)/pytest -n auto --dist loadfile

docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going -j auto -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

bench: $(STAMP)
	$(BIN)/python -m benchmarks

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[all,dev]"
	touch $(STAMP)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/_build docs/generated docs/gallery
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
