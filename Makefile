# make run: the dashboard on http://localhost:8501 (PORT=... for another port).
# make test: the tests. make bench: timed comparisons.
# All set up what they need in .venv first; all they ask for is Python 3.11.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
PORT ?= 8501
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: run test bench check format screenshots static-card clean

run: $(VENV)/.run-installed
	$(BIN)/streamlit run app.py --server.port $(PORT) $(ARGS)

test: $(VENV)/.dev-installed
	@tests/browser/chromium.sh
	$(BIN)/pytest -n 2

# Medians of timed runs, each beside a plain reference; BENCH="page_rerun" for some of them only.
bench: $(VENV)/.dev-installed
	$(BIN)/python -m bench $(BENCH)

# Style and types.
check: $(VENV)/.dev-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev-installed
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

# The README's pictures, into docs/screenshots.
screenshots: $(VENV)/.dev-installed
	@tests/browser/chromium.sh
	$(BIN)/python -m tests.browser.screenshots

# The picture for links where none is drawn, into the package.
static-card: $(VENV)/.dev-installed
	@tests/browser/chromium.sh
	$(BIN)/python -m tests.browser.static_card

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.run-installed: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name it with make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/.dev-installed: $(VENV)/.run-installed requirements-dev.txt requirements-dask.txt \
		requirements-cards.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@
