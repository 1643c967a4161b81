# SPDX-License-Identifier: BSD-3-Clause
# The two commands of the README are 'make demo' and 'make test'; the rest is what they are made of. docs/testing.md says what each check finds.
.DEFAULT_GOAL := help

BUILD ?= build
JOBS ?= $(shell nproc)
CMAKE_FLAGS ?= -DTARE_UNITY=ON
CLANG = -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19
CONFIGURE = cmake -S . -G Ninja $(CMAKE_FLAGS)
# One more than there are cores, as many tests wait: for a browser, for a service, for a time limit.
CTEST = ctest -j $$(($(JOBS) + 1)) --output-on-failure --no-tests=error

.PHONY: help
help:
	@echo 'make demo           install what is missing, build, and show the main job on built-in data'
	@echo 'make test           the same set-up, then the release build and the fast tests'
	@echo 'make test-spark     tests of tare on Spark, with Java 17 (docs/scale.md)'
	@echo 'make check          make test, then everything else that a change must pass: the thorough tests, the sanitizers,'
	@echo '                    a second compiler, clang-tidy, formats, types, fuzz corpora'
	@echo 'make check-nightly  what takes hours: slow statistical tests, faults, soak, fuzzing'
	@echo 'make build          leave the tool at $(BUILD)/tare'
	@echo 'make build-cuda     leave $(BUILD)/libtare_cuda.so beside it, for GPUs (docs/gpu.md); make test-cuda tests it'
	@echo 'make wheel          leave wheels of the Python package in dist'
	@echo 'make r-check        check the R package in r/ (docs/r.md)'
	@echo 'make docs           build the site in $(BUILD)/site; make docs-test also runs its code and checks its links'
	@echo 'make deb            leave Debian packages in dist (docs/deploy.md)'
	@echo 'make bench          build the benchmarks in $(BUILD)/bench'
	@echo 'make format         format every source file'
	@echo 'make clean          remove the build folders'

.PHONY: demo build wheel test bench format clean
demo: build
	$(BUILD)/tare demo --plot $(BUILD)/demo.svg --force

build:
	@tools/setup.sh build
	$(CONFIGURE) -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DTARE_BUILD_TESTS=OFF
	cmake --build $(BUILD) --target tare -j $(JOBS)

# The library for GPUs, its checks and measurements. Compiling them needs nvcc and no GPU; the tests are skipped without one.
.PHONY: build-cuda test-cuda check-cuda
build-cuda:
	@tools/setup.sh test
	$(CONFIGURE) -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DTARE_BUILD_TESTS=ON -DTARE_BUILD_CUDA=ON
	cmake --build $(BUILD) --target tare tare_cuda cuda_exactness gpu_speed -j $(JOBS)

test-cuda: build-cuda
	$(CTEST) --test-dir $(BUILD) -L '^cuda$$'

check-cuda:
	@if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then $(MAKE) test-cuda; \
	else echo 'skipped: no nvcc, so the code for GPUs is not compiled'; fi

# One for each of Python 3.10 and 3.11 and one for 3.12 and later, as far as these are on PATH with their headers.
wheel: build
	@tools/setup.sh test
	tools/build_wheels.sh $(BUILD) dist

test:
	@tools/setup.sh test
	$(CONFIGURE) -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DTARE_BUILD_TESTS=ON -DTARE_SLOW_TESTS=OFF
	cmake --build $(BUILD) -j $(JOBS)
	$(CTEST) --test-dir $(BUILD) -L '^(fast|browser|python)$$'

# tare on Spark: in one process, and on a standalone cluster of two workers. 77: no package index is in reach.
.PHONY: test-spark
test-spark:
	@tools/setup.sh spark
	$(CONFIGURE) -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DTARE_BUILD_TESTS=ON -DTARE_SLOW_TESTS=OFF
	cmake --build $(BUILD) --target tare tare_library -j $(JOBS)
	tools/test_spark.sh $(BUILD) || [ $$? -eq 77 ]

# The site in $(BUILD)/site: pages, reference, pictures, and the notebooks of the gallery, which run. docs-test also runs the code of every
# page, checks every link, and opens pages in a browser. 77: no package index is in reach.
.PHONY: docs docs-test
docs:
	@tools/setup.sh test
	$(CONFIGURE) -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DTARE_BUILD_TESTS=ON
	cmake --build $(BUILD) --target tare -j $(JOBS)
	tools/docs.sh $(BUILD)

docs-test:
	@tools/setup.sh test
	$(CONFIGURE) -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DTARE_BUILD_TESTS=ON
	cmake --build $(BUILD) --target tare -j $(JOBS)
	tools/docs.sh $(BUILD) --test || [ $$? -eq 77 ]

# The quickest checks come first.
.PHONY: check check-rest check-paper check-format check-tidy check-thorough check-wheel check-address check-thread check-clang
check: test test-spark check-rest
check-rest: check-format docs-test check-paper check-thorough check-wheel r-check check-cuda check-clang check-address check-thread check-tidy

check-format:
	@tools/setup.sh check
	git ls-files '*.cpp' '*.h' '*.c' '*.cu' '*.cuh' | xargs clang-format --dry-run -Werror

# The paper's claims in numbers.
check-paper:
	@tools/setup.sh check
	$(CONFIGURE) -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DTARE_BUILD_TESTS=ON -DTARE_SLOW_TESTS=ON
	cmake --build $(BUILD) -j $(JOBS) --target tare_theorem_tests tare_baseline_paper_tests tare_theory_rate_tests
	$(CTEST) --test-dir $(BUILD) -L '^paper$$'

# What else 'make test' leaves out: tests with many fits, all of the Python package and its types, a program
# that uses the installed library.
check-thorough:
	@tools/setup.sh check
	$(CONFIGURE) -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DTARE_BUILD_TESTS=ON -DTARE_SLOW_TESTS=ON
	cmake --build $(BUILD) -j $(JOBS)
	$(CTEST) --test-dir $(BUILD) -L '^thorough$$'

# Wheels and source distribution: built, checked, and used where there is nothing but a Python. 77: no package index is in reach.
check-wheel:
	@tools/setup.sh check
	$(CONFIGURE) -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DTARE_BUILD_TESTS=ON -DTARE_SLOW_TESTS=ON
	cmake --build $(BUILD) --target tare -j $(JOBS)
	tools/test_wheel.sh $(BUILD) $(BUILD)/dist || [ $$? -eq 77 ]

# The R package: its tests, help pages and vignette, by R CMD check.
.PHONY: r-check
r-check:
	@tools/setup_or_skip.sh r || { [ $$? -eq 77 ] && exit 0; exit 1; }; \
	set -e; \
	[ -f $(BUILD)/build.ninja ] || $(CONFIGURE) -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DTARE_BUILD_TESTS=OFF; \
	cmake --build $(BUILD) --target tare tare_library tare_shared -j $(JOBS); \
	tools/check_r.sh $(BUILD)

# Debian packages in dist: the tool with its manual pages and a systemd unit, the library, its headers.
.PHONY: deb check-packaging
deb:
	@tools/setup.sh deb
	JOBS=$(JOBS) packaging/build_deb.sh $(BUILD)/deb dist
	lintian --allow-root --fail-on error,warning dist/tare_*.changes

# The files for packagers; the container, built in a clean Debian and tried; the Debian packages that this build makes, by lintian; the unit.
check-packaging:
	@tools/setup_or_skip.sh container || { [ $$? -eq 77 ] && exit 0; exit 1; }; \
	set -e; \
	tools/check_packaging.sh $(BUILD) || [ $$? -eq 77 ]; \
	[ -x $(BUILD)/tare ] || $(MAKE) build; \
	tools/check_container.py $(BUILD) || { [ $$? -eq 77 ] && exit 0; exit 1; }; \
	lintian --allow-root --fail-on error,warning $(BUILD)/container/deb/tare_*.changes; \
	tools/check_unit.sh $(BUILD)/container/deb/tare_*.deb $(BUILD)/container/unit

# The tool by the second compiler, and its answers beside those of the first.
check-clang:
	@tools/setup.sh check
	$(CONFIGURE) -B build-clang $(CLANG) -DCMAKE_BUILD_TYPE=Release -DTARE_BUILD_TESTS=OFF -DTARE_BUILD_SHARED=OFF
	cmake --build build-clang --target tare -j $(JOBS)
	tests/edge/same_answers.py $(BUILD)/tare build-clang/tare

# Addresses and undefined behaviour; the fuzzers are part of this build and read their seeds and former finds once.
check-address:
	@tools/setup.sh check
	$(CONFIGURE) -B build-address $(CLANG) -DCMAKE_BUILD_TYPE=Debug -DTARE_SANITIZE=address -DTARE_BUILD_FUZZERS=ON -DTARE_BUILD_SHARED=OFF -DTARE_BUILD_TESTS=ON
	cmake --build build-address -j $(JOBS)
	$(CTEST) --test-dir build-address -L '^(fast|fuzz)$$'

# Races between threads: the library, the service under load with reloads, and Python from eight threads.
check-thread:
	@tools/setup.sh check
	tools/check_threads.sh build-thread $(JOBS) $(CLANG)

check-tidy:
	@tools/setup.sh check
	tools/check_tidy.py build-clang -j $(JOBS)

.PHONY: check-nightly
check-nightly: check
	$(CTEST) --test-dir $(BUILD) -L '^slow$$'
	$(MAKE) check-packaging
	TARE_MORE_LIBRARIES='torch keras' tools/test_python.sh $(BUILD) --all
	cmake --preset plain
	cmake --build --preset plain -j $(JOBS)
	tests/faults/run.py --full --tool $(BUILD)/tare --shim $(BUILD)/tests/faults/libtare_fault_shim.so --c-program $(BUILD)/tests/faults/tare_c_faults
	TARE_TOOL=$(BUILD)/tare PYTHONPATH=tests/cli tests/serve/soak.py --minutes 10
	fuzz/run.py --build build-address --minutes 30

bench:
	@tools/setup.sh bench
	$(CONFIGURE) -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DTARE_BUILD_BENCH=ON
	cmake --build $(BUILD) -j $(JOBS)

format:
	git ls-files '*.cpp' '*.h' '*.c' '*.cu' '*.cuh' | xargs clang-format -i

clean:
	rm -rf $(BUILD) build-address build-clang build-thread build-plain
