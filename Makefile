# A newcomer's two commands are `make demo` and `make test`; both set everything up themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

QUICK := $(addprefix tests/,data learners inputs measures report text \
	$(addprefix models/test_,categorizer.py rater.py document_ranker.py learners.py) test_rooms.py)
SLOW := $(patsubst %,tests/%.py,learners/test_checks inputs/test_fuzz \
	report/test_plots)
# More processes than many machines have cores, since many tests wait for a server or a browser; they take up files in
# the order and the groups that tests/conftest.py says.
PROCESSES := -n 3
# Without plugins that tests do not use, and that take a second to import in each process.
PYTEST = $(BIN)/python -m pytest -p no:schemathesis -p no:anyio $(PROCESSES)
HOSTILE := kills queue_kills promotion_kills journals connections models inputs arrays interrupts threads
INTEGRATIONS := mcp annif label-studio
REAL_label-studio := label-studio # beside what the extra brings, which does not need it

.PHONY: demo test long quick check loops format docs papers wheels bench coverage screenshots hostile mutants integrations clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.ready
	$(BIN)/shortlist demo

# `make test WHICH=` runs what takes long, too, as .ci/run does: collected once, and no process is left alone with the
# last file twice.
WHICH := not long
test: $(VENV)/.ready-test loops
	$(PYTEST) -m "$(WHICH)"

# What takes long by its nature: wheels in empty environments, the site, clusters, memory of whole processes, larger data
# sets, hostile runs.
long: $(VENV)/.ready-test
	$(PYTEST) -m long

# What to run while editing: the parts that are quick once their loops are compiled.
quick: $(VENV)/.ready-test check loops
	$(PYTEST) -m "not data and not long" $(addprefix --ignore=,$(SLOW)) $(QUICK)

# The tables of the papers: `make papers DATA=folder NAMES="index-leakage mmp-rcv1"`.
NAMES ?= all
DATA ?= ../shared/data
papers: $(VENV)/.ready-test
	$(BIN)/python -m papers $(NAMES) --data $(DATA) --out results

# A wheel with compiled loops, for this Python and this kind of processor, in dist/.
wheels: $(VENV)/.ready-test
	$(BIN)/python scripts/wheels.py

# Times beside those of other tools. They are shown and compared; only what cannot run is an error.
bench: $(VENV)/.ready-test
	$(BIN)/python -m benchmarks.ratios

# Which lines of Python the tests run, kernels uncompiled, room by room. FOLDERS="text models" measures some tests only,
# and LONG=yes those marked long, too.
coverage: $(VENV)/.ready-test
	$(BIN)/python scripts/covered.py $(if $(FOLDERS),,--fresh) $(if $(LONG),--long) $(FOLDERS)

# The pictures of the page in the documentation, taken anew on a walk through its tutorial.
screenshots: $(VENV)/.ready-test
	SHORTLIST_PICTURES=$(CURDIR)/docs/figures $(PYTEST) -n 0 tests/server/test_walk.py

# Hours of hostile input, each tool with one line of summary; all of them run, also where one finds something.
hostile: $(VENV)/.ready-test
	@failed=; for tool in $(HOSTILE); do \
		$(BIN)/python tests/hostile/$$tool.py --long || failed="$$failed $$tool"; \
	done; test -z "$$failed" || { echo "found something:$$failed"; exit 1; }

# Each drop-in with the real package that it is for, in an environment of its own. These may leave sockets open.
integrations: $(addprefix integration-,$(INTEGRATIONS))

integration-%:
	test -x $(VENV)/integrations/$*/bin/python || $(PYTHON) -m venv $(VENV)/integrations/$*
	$(VENV)/integrations/$*/bin/python -m pip install --quiet --disable-pip-version-check \
		-e '.[server,$*]' $(REAL_$*) pytest httpx hypothesis
	$(VENV)/integrations/$*/bin/python -m pytest -m real -W ignore::pytest.PytestUnraisableExceptionWarning \
		tests/integrations/test_$(subst -,_,$*).py

# Small changes to kernels and journal that some test should notice; a report, not a verdict.
mutants: $(VENV)/.ready-test
	$(BIN)/python tests/hostile/mutants.py

# The documentation as a site, in docs/_build/html; warnings are errors.
docs: $(VENV)/.ready-test
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

loops: $(VENV)/.ready-test
	$(BIN)/shortlist warmup

check: $(VENV)/.ready-test
	$(BIN)/ruff check .
	$(BIN)/codespell
	$(BIN)/mypy

format: $(VENV)/.ready-test
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format --quiet .

$(VENV)/.ready: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.ready-test: $(VENV)/.ready pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

clean:
	rm -rf $(VENV) build dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
