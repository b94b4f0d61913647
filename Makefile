# The two commands of the README, and what developers use besides. Everything happens in .venv:
# the first call sets it up, later ones only notice what changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(shell find native cmake -type f) CMakeLists.txt pyproject.toml

.PHONY: demo test lint format stubs native-test shared-code sanitize test-baseline flips bits bench clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.installed  ## a photo by all three methods, and two hard cases; writes demo.png
	@$(BIN)/coterie demo --output demo.png

test: $(VENV)/.test-tools native-test lint  ## all tests
	$(BIN)/python -m pytest

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Coterie needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'

# Built without isolation into build/, so that a changed kernel recompiles only itself.
$(VENV)/.installed: $(BIN)/python $(NATIVE)
	@command -v $${CXX:-c++} >/dev/null || \
	  { echo "Coterie needs a C++20 compiler. Debian, Ubuntu: apt-get install g++. Fedora: dnf install gcc-c++. macOS: xcode-select --install." >&2; exit 1; }
	$(BIN)/pip install --quiet 'scikit-build-core>=0.11' 'nanobind>=2.9' cmake ninja
	$(BIN)/pip install --quiet --no-build-isolation --config-settings=build-dir=build/editable --editable '.[cli,plot,media]'
	@touch $@

$(VENV)/.test-tools: $(VENV)/.installed
	$(BIN)/pip install --quiet --group test --group lint
	@touch $@

native-test: $(VENV)/.installed  ## the C++ tests, which need no Python
	@$(BIN)/cmake --build build/editable --target coterie_tests > build/native-test.log || { cat build/native-test.log; exit 1; }
	build/editable/coterie_tests
	@$(BIN)/python native/tests/no_shared_code.py build/editable

shared-code: $(VENV)/.installed  ## whether levels share code, where compilers inline little
	$(BIN)/cmake -S . -B build/inline-little -G Ninja -DCOTERIE_OPTIMISE=-O1 -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja
	$(BIN)/cmake --build build/inline-little --target coterie_core
	$(BIN)/python native/tests/no_shared_code.py build/inline-little

sanitize: $(VENV)/.installed  ## the C++ tests under address, undefined-behaviour and thread sanitizers
	$(BIN)/cmake -S . -B build/asan -G Ninja -DCOTERIE_SANITIZE=address,undefined -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja
	$(BIN)/cmake --build build/asan --target coterie_tests && build/asan/coterie_tests
	$(BIN)/cmake -S . -B build/tsan -G Ninja -DCOTERIE_SANITIZE=thread -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja
	$(BIN)/cmake --build build/tsan --target coterie_tests && build/tsan/coterie_tests

lint: $(VENV)/.test-tools  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files 'native/*.cpp' 'native/*.hpp')
	$(BIN)/mypy

format: $(VENV)/.test-tools
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(git ls-files 'native/*.cpp' 'native/*.hpp')

stubs: $(VENV)/.test-tools  ## after a change of the bindings
	$(BIN)/python -m nanobind.stubgen -m coterie.kernels._native -o src/coterie/kernels/_native.pyi

test-baseline: $(VENV)/.test-tools  ## all tests of Python at the lowest instruction-set level
	COTERIE_SIMD=baseline $(BIN)/python -m pytest

flips: $(VENV)/.test-tools  ## ten thousand damaged files of every kind of model, all of which must be errors
	COTERIE_FLIPS=10000 $(BIN)/python -m pytest tests/models/test_damage.py tests/models/test_fuzz.py -k "flipped or forged"

bits: $(VENV)/.test-tools  ## whether some hundred fits still give the same bits; takes a minute or two
	$(BIN)/python tools/bits.py check

bench: $(VENV)/.installed  ## side by side with the peers; takes long
	$(BIN)/pip install --quiet -r benchmarks/requirements.txt
	$(BIN)/python -m benchmarks all

clean:
	rm -rf build dist $(VENV) demo.png
