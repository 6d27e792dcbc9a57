# Every target does its own set-up: a machine needs Python >= 3.10, a C compiler and make, nothing else.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Arguments for pytest: make test ARGS="-k smi -x"
ARGS   ?=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo check test model test-k8s test-torch test-web test-debian11 chaos fuzz bench report lint build manifests release clean FORCE

help: ## Print this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F '\t' '{printf "  make %-13s %s\n", $$1, $$2}'

demo: $(VENV)/installed ## Show what nvshare does, on emulated GPUs
	$(BIN)/nvshare demo

check: $(VENV)/installed ## Run lint, type checks and quick tests in half a minute (ONLY=core: one area of tools/areas.toml)
	$(BIN)/python -m tools.check $(ONLY)

# The tests start Python hundreds of times: compiled modules are kept, whatever the user does elsewhere.
check test: export PYTHONDONTWRITEBYTECODE :=

test: $(VENV)/installed ## Run every test (ARGS="-k name" to choose)
ifeq ($(strip $(ARGS)),)
	$(BIN)/python -m tests.run
else
	$(BIN)/python -m pytest $(ARGS)
endif

# The model check (docs/model.md): number of programs, of faults, and of times that a program or a message is late; or
# gangs on two GPUs instead of programs.
CLIENTS ?= 3
CRASHES ?= 2
LATE    ?= 0

model: $(VENV)/installed ## Search all courses of events for a few programs (CLIENTS=3 CRASHES=2 LATE=0 GANGS=)
	$(BIN)/python -m tests.modelcheck $(if $(GANGS),--gangs "$(GANGS)",--clients $(CLIENTS)) --crashes $(CRASHES) \
	  --late $(LATE) $(ARGS)

test-k8s: $(VENV)/installed ## Start a cluster of one node, and run the tests that need one (root)
	$(BIN)/python -m tests.kubernetes.run $(ARGS)

test-torch: $(VENV)/installed ## Run PyTorch itself on emulated GPUs (installs it in ~/.cache once, 11 GB)
	$(BIN)/python -m tests.pytorch.run $(ARGS)

test-web: $(VENV)/installed ## Run the web page in Chromium (installs Debian's chromium; root)
	$(BIN)/python -m tests.web.run $(ARGS)

MINUTES ?= 30
chaos: $(VENV)/installed ## Inject random faults under programs that check their data (MINUTES=30 SEED=…)
	$(BIN)/python -m tests.chaos.run --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(if $(SMALL),--small) $(if $(KINDS),--kinds $(KINDS))

# Seconds for each reader. ONLY="ptx config" chooses readers.
SECONDS ?= 60
ONLY    ?=

fuzz: $(VENV)/installed ## Fuzz every reader of untrusted input, SECONDS=60 each (ONLY=name; installs Debian's clang; root)
	$(BIN)/python -m tests.fuzz.run --seconds $(SECONDS) --only "$(ONLY)" $(ARGS)

bench: $(VENV)/installed ## Run every benchmark and print JSON
	$(BIN)/nvshare bench all --json

report: $(VENV)/installed ## Write a page of figures and plots to build/report (FROM=results.jsonl, or QUICK=1: two minutes)
	$(BIN)/python -m tools.report $(if $(FROM),--from $(FROM)) $(if $(QUICK),--quick)

# Types for the oldest Python that is supported (pyproject.toml), and for the newest.
lint: $(VENV)/installed ## Check style, types, C formatting, layers, image and workflows
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --strict src tests protocol tools native/headers native/interposer/generator native/tests/victims lab/emulator/exports
	$(BIN)/mypy --strict --python-version 3.14 src
	find native lab -name '*.[ch]' -print0 | xargs -0 -r $(BIN)/clang-format --dry-run --Werror
	$(BIN)/lint-imports
	$(BIN)/hadolint --config deploy/docker/hadolint.yaml deploy/docker/Dockerfile
	$(BIN)/zizmor --offline --quiet --strict-collection .github

.PHONY: audit
audit: $(VENV)/installed $(VENV)/audit ## Check nvshare's dependencies for known vulnerabilities, and their licences (network)
	$(BIN)/python -m tools.audit

build: $(VENV)/installed ## Compile and install into .venv (only what changed)

.PHONY: docs reference
docs: $(VENV)/docs ## Build the documentation as a site, in build/docs; warnings and broken links are errors
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -c docs -d build/doctrees . build/docs

# Pictures change with the scheduler. They are drawn again only by this target.
reference: $(VENV)/installed ## Write the command line reference, the man pages and the pictures of the documentation
	$(BIN)/python -m tools.docs.ways
	$(BIN)/python -m tools.docs.reference
	$(BIN)/python -m tools.docs.ledger
	$(BIN)/nvshare simulate X1 --svg docs/explanation/three-jobs.svg >/dev/null
	$(BIN)/nvshare simulate gangs-over --svg docs/explanation/two-gangs.svg >/dev/null

manifests: $(VENV)/installed ## Render the Helm chart into deploy/manifests, and write its README
	$(BIN)/python -m tools.manifests
	$(BIN)/python -m tools.chart_readme

release: $(VENV)/installed $(VENV)/release ## Build all release files in dist/, and test them (ARGS="versions sums": only those)
	$(BIN)/python -m tools.release $(ARGS)

test-debian11: $(VENV)/installed ## Install the packages of dist/ in a root folder with Debian 11, and run the demo there (root)
	$(BIN)/python -m tools.release debian11

clean: ## Remove everything that make created
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The tools: installed once, and again when pyproject.toml changes. Most of their modules are never imported, so they are
# compiled when they are.
$(VENV)/tools: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --no-compile --group dev
	touch $@

$(VENV)/docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

$(VENV)/audit: $(VENV)/tools
	$(BIN)/python -m pip install --quiet --group audit
	touch $@

$(VENV)/release: $(VENV)/tools
	$(BIN)/python -m pip install --quiet --group release
	touch $@

# The names of all source files. It changes when a file is added or removed, and then the editable install is made again.
$(VENV)/sources: FORCE $(VENV)/tools
	@new=$@.$$$$; find src native lab cmake -type f -not -name '*.pyc' | LC_ALL=C sort >$$new; \
	cmp -s $$new $@ && rm $$new || mv $$new $@

# The build folder persists, so this compiles only what changed. Python files need no new install when edited.
NATIVE := CMakeLists.txt $(shell find native lab cmake -type f 2>/dev/null)

$(VENV)/installed: $(VENV)/tools $(VENV)/sources $(NATIVE)
	$(BIN)/python -m pip install --quiet --no-build-isolation \
	    --config-settings=cmake.define.NVSHARE_WERROR=ON --editable '.[kubernetes]'
	touch $@

FORCE:
