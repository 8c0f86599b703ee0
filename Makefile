# A fresh machine needs Python 3.11 or newer, pip and make, for `make test` also Rust 1.87 or newer and kpt; `make tools`
# brings its own Go where there is none.
PYTHON  ?= python3
WORKERS ?= 2

BIN      := .venv/bin
QUICK    := examples/quickstart
DEMO     := out/quickstart
PIP      := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test nightly lint tools docs bench bench-policy fuzz clean

help:
	@echo "make demo   render $(QUICK) and show the plan"
	@echo "make test   everything CI checks: linters, types, the real tools, all tests"
	@echo "make nightly  all cases of all cross products, with new random examples; fuzz"
	@echo "make lint   linters and types only"
	@echo "make tools  build the pinned kustomize, Helm, registry, OPA, containerd, go-yaml, Kubernetes' defaults, Go's readers, two regorus into the cache, fetch Chromium, find kpt"
	@echo "make docs   write the generated pages and pictures of docs/"
	@echo "make bench  measure speed and memory"
	@echo "make bench-policy  count policy requests on the engines, score the rules by what the tests notice"
	@echo "make fuzz   ten million mutants, or an hour, of hostile streams: what Go reads against what we read"
	@echo "make clean  remove what was made here, the virtual environment excepted"

demo: .venv/installed
	@mkdir -p $(DEMO)
	$(BIN)/contrast-krm plan $(QUICK)/resources --config $(QUICK)/config --nodes $(QUICK)/nodes.yaml
	$(BIN)/contrast-krm plan $(QUICK)/resources --config $(QUICK)/config --nodes $(QUICK)/nodes.yaml -o $(DEMO)/plan.html
	$(BIN)/contrast-krm generate $(QUICK)/resources --config $(QUICK)/config -o $(DEMO)/rendered.yaml
	$(BIN)/contrast-krm manifest $(DEMO)/rendered.yaml > $(DEMO)/manifest.json
	@echo "plan as a page:     $(DEMO)/plan.html"
	@echo "rendered resources: $(DEMO)/rendered.yaml"
	@echo "manifest:           $(DEMO)/manifest.json"

test: lint tools
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# all cases of all cross products, with new random examples; NIGHTLY_SEED=number repeats a run
nightly: NIGHTLY_SEED ?= $(shell date +%Y%m%d%H%M)
nightly: lint tools
	@echo "NIGHTLY_SEED=$(NIGHTLY_SEED)"
	PROPERTY_SEED=$(NIGHTLY_SEED) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --nightly \
	  --hypothesis-seed=$(NIGHTLY_SEED)
	$(MAKE) fuzz FUZZ_SEED=$(NIGHTLY_SEED)

lint: .venv/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

tools: | $(BIN)/python
	@$(BIN)/python -m tools

docs: .venv/installed-dev tools
	$(BIN)/python -m tools.make_docs
	$(BIN)/python -m tools.make_pictures

bench: .venv/installed-dev tools
	$(BIN)/python -m benchmarks

bench-policy: .venv/installed-dev tools
	$(BIN)/python -m benchmarks.policy

# FUZZ_SEED, FUZZ_RUNS and FUZZ_SECONDS change what is tried; finds go to out/fuzz
fuzz: .venv/installed-dev tools
	$(BIN)/python -m tools.fuzz

clean:
	rm -rf out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find krm_function helm_plugin tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/installed: pyproject.toml | $(BIN)/python
	$(PIP) -e .
	@touch $@

.venv/installed-dev: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[dev]'
	@touch $@ .venv/installed

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: $(PYTHON) is not Python 3.11 or newer; name one: make PYTHON=python3.12 ..." >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "error: $(PYTHON) cannot make virtual environments; on Debian: apt-get install python3-venv" >&2; exit 2; }
	@$(PYTHON) -m venv --upgrade-deps .venv || { rm -rf .venv; exit 2; }
