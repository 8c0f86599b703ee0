# A fresh machine needs Python 3.11 or newer, pip and make, for `make test-all` also Rust 1.87 or newer and, for the
# container image, what .ci/engine installs; `make tools` brings its own Go where there is none.
PYTHON  ?= python3
WORKERS ?= 3  # on two cores: some tests wait for a registry or for a process

BIN      := .venv/bin
QUICK    := examples/quickstart
DEMO     := out/quickstart
PIP      := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile  # Python does when it imports
PYTEST    = $(BIN)/python -m pytest $(if $(PROPERTY_SEED),--hypothesis-seed=$(PROPERTY_SEED))
XDIST    := -n $(WORKERS) --dist worksteal  # neighbours share what is set up once for a file; nobody waits at the end
PLANES   := -n 2 --dist loadfile  # each of two processes has a control plane of its own, and whole files
LINT     := types types-macos style
CLUSTER  ?= 1  # 0: `make test-all` without the Kubernetes control plane of tests/cluster
LOCK     ?= --upgrade
LOCKED   := $(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
            --no-annotate --custom-compile-command 'make lock' --no-emit-package contrast-krm --group build $(LOCK)
PLATFORMS := x86_64-manylinux_2_28 aarch64-manylinux_2_28 x86_64-unknown-linux-musl aarch64-unknown-linux-musl aarch64-apple-darwin

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all nightly coverage lint types types-macos style tools tools-basic tools-cluster docs bench fuzz dist plugins bundle image lock clean

help:
	@echo "make demo      render $(QUICK) and show the plan"
	@echo "make lint      linters and types only"
	@echo "make test      what a change needs: linters, types, quick tests with kustomize, Helm, kpt and OPA"
	@echo "make test-all  what CI runs: all tests, bundle and image; CLUSTER=0: without a control plane"
	@echo "make nightly   all tests with all their cases and new examples; PROPERTY_SEED=N repeats a run"
	@echo "make fuzz      an hour of hostile streams: what Go reads against what we read"
	@echo "make docs      write the generated pages and pictures of docs/"
	@echo "make bench     measure speed and memory, and write the figures of the pages"
	@echo "make dist      build the wheel and the source distribution; then make plugins: those of Helm"
	@echo "make bundle    build the archives for machines without Python, and try all examples with one"
	@echo "make image     build the container image and run it; BASE=IMAGE: on that base"
	@echo "make lock      renew the lock files of requirements/, and look for their wheels"

demo: .venv/installed
	@mkdir -p $(DEMO)
	$(BIN)/contrast-krm plan $(QUICK)/resources --config $(QUICK)/config --nodes $(QUICK)/nodes.yaml
	$(BIN)/contrast-krm plan $(QUICK)/resources --config $(QUICK)/config --nodes $(QUICK)/nodes.yaml -o $(DEMO)/plan.html
	$(BIN)/contrast-krm generate $(QUICK)/resources --config $(QUICK)/config -o $(DEMO)/rendered.yaml
	$(BIN)/contrast-krm manifest $(DEMO)/rendered.yaml > $(DEMO)/manifest.json
	@echo "plan as a page:     $(DEMO)/plan.html"
	@echo "rendered resources: $(DEMO)/rendered.yaml"
	@echo "manifest:           $(DEMO)/manifest.json"

# PROPERTY_SEED=number: other examples for the property tests than the usual ones
test:  # tools are built beside the linters
	@$(MAKE) --no-print-directory -j 3 $(LINT) tools-basic
	$(PYTEST) $(XDIST) -m "not slow and not nightly" --hypothesis-profile=quick

# The bundle and the image make tests of their own; what they leave in out/ is not needed afterwards.
test-all: lint tools
	$(PYTEST) $(XDIST)
ifeq ($(strip $(CLUSTER)),0)
	@echo "make test-all: NOT TESTED against a Kubernetes control plane (CLUSTER=0)" >&2
else
	$(MAKE) --no-print-directory tools-cluster
	$(PYTEST) tests/cluster --cluster small $(PLANES)
endif
	$(MAKE) --no-print-directory bundle
	$(MAKE) --no-print-directory image
	rm -rf out/bundle out/image

nightly: export PROPERTY_SEED := $(or $(PROPERTY_SEED),$(shell date +%Y%m%d))
nightly: lint tools tools-cluster
	$(PYTEST) $(XDIST) -m "" --hypothesis-profile=nightly
	$(PYTEST) tests/cluster --cluster large $(PLANES)

# Some tests look at their own process (the modules it has loaded, its time) and fail while it is traced: here only the
# figure counts, and `make test` judges the tests.
coverage: .venv/installed-dev tools
	@rm -rf out/coverage && mkdir -p out/coverage
	-$(BIN)/coverage run -m pytest $(XDIST)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet
	$(BIN)/coverage report

# the wheel and the source distribution, by the build backend of the lock file
dist: .venv/installed
	rm -f dist/contrast_krm-*
	$(BIN)/hatchling build --directory dist

# after `make dist`, which empties the directory; SIGN: reads a text, writes it with its signature
plugins: .venv/installed
	rm -f dist/contrast-krm-*.tgz* dist/helm3-contrast-*
	$(BIN)/python -m tools.helm_plugins $(if $(SIGN),--sign "$(SIGN)") dist

# The wheel, a Python and a launcher in one archive, for machines without Python; its tests, and all examples through it.
# The one for the other kind of machine runs in the emulator that .ci/engine installs.
# `$(BIN)/python -m tools.bundle dist` alone makes the archive.
bundle: MACHINE = $(shell uname -m)
bundle: BUILT = $(CURDIR)/dist/contrast-krm-*-linux-$(MACHINE).tar.gz
bundle: .venv/installed-dev dist tools
	rm -rf out/bundle dist/contrast-krm-*-linux-*.tar.gz
	mkdir -p out/bundle
	$(BIN)/python -m tools.bundle dist
	$(BIN)/python -m tools.other_bundle dist
	$(BIN)/python -m tools.checksums dist
	tar -xzf $(BUILT) --strip-components=1 -C out/bundle
	CONTRAST_KRM_BUNDLE=$$(echo $(BUILT)) CONTRAST_KRM_PROGRAM=$(CURDIR)/out/bundle/contrast-krm $(PYTEST) $(XDIST) \
	  tests/install/test_bundle.py tests/install/test_other_bundle.py tests/hosts/test_examples.py \
	  tests/hosts/test_first_deployment.py

# No registry is needed: the base is made of Debian's packages, unless BASE names one. It wants root, or what rootless
# podman wants; `$(BIN)/python -m tools.image` alone makes the archive in dist/.
image: .venv/installed-dev tools
	$(BIN)/python -m tools.image $(BASE)
	$(BIN)/python -m tools.checksums dist
	CONTRAST_KRM_IMAGE=1 $(PYTEST) tests/install/test_image.py tests/install/test_image_root.py \
	  tests/install/test_image_hosts.py tests/install/test_image_page.py

# newest versions that pyproject.toml allows, for all Pythons; LOCK=--upgrade-package=NAME renews one of them.
# Last, it asks the index whether all that users need has a wheel on each platform.
lock: .venv/installed-dev
	$(LOCKED) --extra lock --extra html --extra settings --extra completion --output-file requirements/run.txt
	$(LOCKED) --extra dev --output-file requirements/dev.txt
	for platform in $(PLATFORMS); do $(BIN)/uv pip install --dry-run --quiet --no-cache --target out/no-such-directory \
	  --python-platform $$platform --python-version 3.11 --only-binary :all: --require-hashes -r requirements/run.txt || exit 1; \
	done

# two at a time: the longest are the types, as here and as on macOS
lint: .venv/installed-dev
	@$(MAKE) --no-print-directory -j 2 $(LINT)

types: .venv/installed-dev
	$(BIN)/mypy

types-macos: .venv/installed-dev
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin -p krm_function -p helm_plugin

style: .venv/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tools.vague_names
	$(BIN)/python -m tools.workflows

tools: | $(BIN)/python
	@$(BIN)/python -m tools

tools-basic: | $(BIN)/python
	@$(BIN)/python -m tools --basic

# etcd, API server, scheduler, controllers and kubectl: one program, the longest build of all, and the only one apart
tools-cluster: | $(BIN)/python
	@$(BIN)/python -m tools kubernetes lws jobset rollouts sandbox kuberay kruise training trainer

docs: .venv/installed-dev tools
	$(BIN)/python -m tools.make_docs
	$(BIN)/python -m benchmarks.pages
	$(BIN)/python -m tools.make_pictures

# an hour or more; the figures of the pages are those of this run
bench: .venv/installed-dev tools
	$(BIN)/python -m benchmarks.instructions
	$(BIN)/python -m benchmarks --write
	$(BIN)/python -m benchmarks.short_cuts --runs 5 --write
	$(BIN)/python -m benchmarks.pages

# FUZZ_SEED, FUZZ_RUNS and FUZZ_SECONDS change what is tried; finds go to out/fuzz
fuzz: .venv/installed-dev tools
	$(BIN)/python -m tools.fuzz

clean:
	rm -rf out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find krm_function helm_plugin tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# from the lock files alone: they hold the build backend, too
.venv/installed: requirements/run.txt pyproject.toml | $(BIN)/python
	$(PIP) --require-hashes -r requirements/run.txt
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

.venv/installed-dev: requirements/dev.txt pyproject.toml | $(BIN)/python
	$(PIP) --require-hashes -r requirements/dev.txt
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@ .venv/installed

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: $(PYTHON) is not Python 3.11 or newer; name one: make PYTHON=python3.12 ..." >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "error: $(PYTHON) cannot make virtual environments; on Debian: apt-get install python3-venv" >&2; exit 2; }
	@$(PYTHON) -m venv --upgrade-deps .venv || { rm -rf .venv; exit 2; }
