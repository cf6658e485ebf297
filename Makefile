# A newcomer's two commands are `make demo` and `make test`; both set everything up themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.ready
	$(BIN)/shortlist demo

test: $(VENV)/.ready-test check
	$(BIN)/python -m pytest -n 2 -m "not speed"
	$(BIN)/python -m pytest -m speed

check: $(VENV)/.ready-test
	$(BIN)/ruff check .
	$(BIN)/mypy

$(VENV)/.ready: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.ready-test: $(VENV)/.ready pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
