# SPDX-License-Identifier: BSD-3-Clause
# The two commands of the README are 'make demo' and 'make test'; the rest is what they are made of.
.PHONY: help demo build test test-all bench format layers clean
.DEFAULT_GOAL := help

BUILD ?= build
SANITIZED ?= build-sanitized
JOBS ?= $(shell nproc)
CMAKE_FLAGS ?= -DTARE_UNITY=ON

help:
	@echo 'make demo      install what is missing, build, and show the main job on built-in data'
	@echo 'make test      the same set-up, then every test but the slow ones, the fast ones also with sanitizers'
	@echo 'make build     leave the tool at $(BUILD)/tare'
	@echo 'make test-all  make test, and the slow statistical tests'
	@echo 'make bench     build the benchmarks in $(BUILD)/bench'
	@echo 'make format    clang-format every source file'
	@echo 'make clean     remove the build folders'

demo: build
	$(BUILD)/tare demo --plot $(BUILD)/demo.svg --force

build:
	@tools/setup.sh build
	cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DTARE_BUILD_TESTS=OFF $(CMAKE_FLAGS)
	cmake --build $(BUILD) --target tare -j $(JOBS)

# The sanitizer run comes first, so that the last line shown is that of the whole suite.
test: sanitized release
	ctest --test-dir $(SANITIZED) -L fast -j $(JOBS) --output-on-failure
	ctest --test-dir $(BUILD) -LE slow -j $(JOBS) --output-on-failure

test-all: test
	cmake -S . -B $(BUILD) -DTARE_SLOW_TESTS=ON
	cmake --build $(BUILD) -j $(JOBS)
	ctest --test-dir $(BUILD) -L slow -j $(JOBS) --output-on-failure

.PHONY: release sanitized
release:
	@tools/setup.sh test
	cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DTARE_BUILD_TESTS=ON -DTARE_SLOW_TESTS=OFF $(CMAKE_FLAGS)
	cmake --build $(BUILD) -j $(JOBS)

sanitized:
	@tools/setup.sh test
	cmake -S . -B $(SANITIZED) -G Ninja -DCMAKE_BUILD_TYPE=Debug -DTARE_SANITIZE=address -DTARE_BUILD_SHARED=OFF -DTARE_BUILD_TESTS=ON $(CMAKE_FLAGS)
	cmake --build $(SANITIZED) -j $(JOBS)

bench:
	@tools/setup.sh bench
	cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DTARE_BUILD_BENCH=ON $(CMAKE_FLAGS)
	cmake --build $(BUILD) -j $(JOBS)

format:
	git ls-files '*.cpp' '*.h' | xargs clang-format -i

layers:
	tools/check_layers.py
	tools/check_words.py

clean:
	rm -rf $(BUILD) $(SANITIZED)
