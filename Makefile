# Two commands are all a newcomer needs: `make run` and `make test`.
SHELL := /bin/bash
TARE := build/bin/tare
JOBS ?= $(shell nproc)
# OFF leaves the guest engine and its tests out.
GUEST ?= ON
# OFF compiles each file by itself, which is faster when one was changed.
UNITY ?= ON
CONFIGURE = cmake --preset release -DTARE_GUEST=$(GUEST) -DTARE_UNITY=$(UNITY) $(if $(WERROR),-DTARE_WERROR=ON)

.DEFAULT_GOAL := build
.PHONY: build node run test bench format lint sanitize install clean help

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

build: ## build build/bin/tare
	@scripts/setup build
	@$(CONFIGURE) >/dev/null
	@cmake --build build -j $(JOBS) --target tare

node: build ## install the pinned Node from npm into the cache folder, and build the guest engine on it
	@scripts/setup npm
	@$(TARE) targets install node
	@$(CONFIGURE) >/dev/null
	@cmake --build build -j $(JOBS) --target $(if $(filter ON,$(GUEST)),tare_guest,tare)

run: node ## measure the built-in targets: out/run.json, out/report.md (under 3 minutes)
	@$(TARE) targets install import
	@$(TARE) all --quick --output out/run.json --markdown out/report.md

test: node ## every test
	@scripts/setup test
	@$(TARE) targets install conformance
	@$(TARE) targets install import
	@$(TARE) targets install openclaw
	@cmake --build build -j $(JOBS)
	ctest --test-dir build --output-on-failure --no-tests=error -j $(JOBS) $(CTEST_ARGS)

bench: node ## Tare's own speed against its peers: out/bench.json (BENCH=id runs one)
	@scripts/setup bench
	@$(TARE) targets install import
	@cmake --build build -j $(JOBS) --target tare-bench
	@build/bin/tare-bench --output out/bench.json $(BENCH)

sources = git ls-files -z --cached --others --exclude-standard '*.cpp' '*.hpp' '*.c'

format: ## format every source file
	@scripts/setup lint
	@$(sources) | xargs -0 clang-format-19 -i

lint: ## format, clang-tidy and shell checks; changes nothing
	@scripts/setup build lint
	@$(sources) | xargs -0 clang-format-19 --dry-run --Werror
	@shellcheck scripts/* .ci/run
	@cmake --preset lint >/dev/null
	@scripts/tidy build/lint

sanitize: ## unit and integration tests under the address, undefined-behaviour and thread sanitizers
	@scripts/setup build test npm
	@for preset in asan tsan; do \
	  cmake --preset $$preset >/dev/null && cmake --build --preset $$preset -j $(JOBS) && \
	  ctest --test-dir build/$$preset --output-on-failure -j $(JOBS) -LE nosanitize || exit 1; \
	done

install: build ## install under PREFIX (default /usr/local)
	@cmake --install build --prefix $(or $(PREFIX),/usr/local)

clean: ## remove the build and the reports
	@rm -rf build out
