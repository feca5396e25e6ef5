# Installs missing packages (Debian), configures, builds and runs.
#
#   make            build the release preset into build/release
#   make demo       simulate a mechanism and write an interactive page; plot the heavy top
#   make gallery    pictures and curves of all examples, docs/gallery; the animation in README
#   make test       build and run all tests
#   make nightly    long checks: damaged results and models, NIGHTLY_FUZZ (default 50) times as many as
#                   in the tests; `error: positions` and pages of all examples; stops with
#                   friction; random mechanisms from a new seed for NIGHTLY_MINUTES (default 60), on all cores
#   make bench      compare the speed with other solvers (BENCH="--quick", "--only chain"): build/bench
#   make asan       all tests with the address and undefined-behaviour sanitizers
#   make tsan       the tests that use threads with the thread sanitizer
#   make clang      compile everything with clang, warnings as errors; nothing is linked or run
#   make format     format the sources with clang-format; make format-check only checks
#   make install    into PREFIX (default /usr/local); DESTDIR is honoured
#   make clean      remove build/
#
# DEPS=skip installs no packages.

PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
DEPS   ?= install
BENCH  ?=
NIGHTLY_MINUTES ?= 60
NIGHTLY_FUZZ    ?= 50
NIGHTLY_SEED    ?= $(shell date +%s)

GALPHA = build/release/bin/galpha

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: build demo gallery test nightly bench asan tsan clang format format-check install clean

ifeq ($(DEPS),skip)
need = @:
else
need = @tools/install_deps $(1)
endif

build:
	$(call need,build)
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS)

demo:
	$(call need,build)
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target galpha_program demo_heavy_top
	build/release/examples/demo_heavy_top build/release/heavy_top.svg
	tools/demo $(GALPHA) build/release

gallery:
	$(call need,build gallery)
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target galpha_program
	tools/make_gallery $(GALPHA)

test:
	$(call need,build test)
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS)
	ctest --preset release --parallel $(JOBS)

nightly:
	$(call need,build test)
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target galpha_program test_io_result_read test_document_fuzz \
		test_random_friction_stops
	GALPHA_FUZZ=$(NIGHTLY_FUZZ) GALPHA_FUZZ_SEED=$(NIGHTLY_SEED) build/release/test/io/test_result_read
	GALPHA_FUZZ=$(NIGHTLY_FUZZ) GALPHA_FUZZ_SEED=$(NIGHTLY_SEED) build/release/test/document/test_fuzz
	FRICTION_CASES=3000 FRICTION_SEED=$(NIGHTLY_SEED) build/release/test/random/test_friction_stops
	test/models/check_mutations $(GALPHA) 4000 $(NIGHTLY_SEED)
	test/models/check_examples $(GALPHA) positions 1e-3 1e-4 1e-5 1e-6
	node test/viewer/run.mjs --program $(GALPHA) --models examples --out build/nightly/viewer --all || test $$? -eq 77
	test/random/nightly $(GALPHA) $(JOBS) $(NIGHTLY_MINUTES) $(NIGHTLY_SEED) build/nightly

bench:
	$(call need,build bench)
	cmake --preset release -B build/bench -DGALPHA_BENCH=ON -DGALPHA_NATIVE=ON -DGALPHA_WERROR=OFF -DGALPHA_TESTS=OFF -DGALPHA_EXAMPLES=OFF
	cmake --build build/bench --parallel $(JOBS) --target galpha_bench
	build/bench/bin/galpha_bench --out build/bench/results $(BENCH)

asan:
	$(call need,build test)
	cmake --preset asan
	cmake --build --preset asan --parallel $(JOBS)
	ctest --preset asan --parallel $(JOBS)

# folder/name of the tests that use threads
THREADED = base/pool la/matrix la/coords la/block/block model/assembly element/reaction api/threads api/repeat \
           api/schedule
empty =
tsan:
	$(call need,build test)
	cmake --preset tsan
	cmake --build --preset tsan --parallel $(JOBS) --target $(addprefix test_,$(subst /,_,$(THREADED)))
	ctest --preset tsan --parallel $(JOBS) -R '^($(subst $(empty) ,|,$(THREADED)))$$'

clang:
	$(call need,build test clang)
	cmake --preset clang
	cmake --build --preset clang --target galpha_generated
	tools/check_clang build/clang $(JOBS)

format:
	$(call need,format)
	tools/format

format-check:
	$(call need,format)
	tools/format --check

install: build
	cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build
