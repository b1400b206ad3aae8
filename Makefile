# Every target does the set-up it needs. The one install step is `npm ci`; Bun and Deno come with it.

SHELL := bash
.SHELLFLAGS := -eo pipefail -c

BIN := node_modules/.bin
BUN := $(BIN)/bun
BINARY := dist/hivenet-router
# Split, so that the restart in src/runtime/bun-start.ts loads nothing but itself. Depth 0 compiles what runs while modules
# load; a function is compiled when it is first called (docs/performance.md says what that costs and saves).
BUILD_FLAGS := --compile --minify --bytecode --bytecode-depth=0 --splitting --format=esm --sourcemap --production \
	--tsconfig-override=tsconfig.binary.json --no-compile-autoload-dotenv --no-compile-autoload-bunfig
SOURCES := $(shell find src -name '*.ts') package.json tsconfig.binary.json Makefile
CORE_TESTS := test/lib test/site test/redirect test/auth test/quota test/admission test/policy test/routing

.DEFAULT_GOAL := help
.PHONY: help build run demo demo-hold test check check-model mutants bench bench-compare soak clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

node_modules/.installed: package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(BINARY): node_modules/.installed $(SOURCES)
	@mkdir -p dist
	$(BUN) build $(BUILD_FLAGS) src/main.ts --outfile $(BINARY)
	@rm -f dist/*.map # the binary has them

build: $(BINARY) ## Compile dist/hivenet-router, one executable

run: $(BINARY) ## Run the router with ARGS='--engine …' (see README.md)
	$(BINARY) $(ARGS)

demo: $(BINARY) ## Two sites, mock engines, real SDKs: a redirect from end to end (KEEP=1 leaves it running)
	$(BUN) test/demo/main.ts $(if $(filter-out 0 no false,$(KEEP)),--keep)

demo-hold: $(BINARY) ## A model at zero is started by a webhook while a client of the OpenAI SDK waits for it
	$(BUN) test/demo/hold.ts

test: $(BINARY) ## All tests on Bun, the core rooms' tests on Deno too
	$(BUN) test --only-failures --timeout 30000
	NO_COLOR=1 $(BIN)/deno test --allow-env --allow-read --quiet --reporter=dot $(CORE_TESTS) | grep -vx '[.]*'

check: node_modules/.installed ## Types, format, lint, room directions, dead code, requirements without a test
	$(BIN)/tsc
	$(BIN)/biome ci .
	$(BIN)/deno check src/main.deno.ts $(CORE_TESTS)
	$(BUN) $(BIN)/knip
	$(BUN) test/requirements/check.ts

check-model: node_modules/.installed ## Search every fleet for a loop, every trace for a token used twice (minutes; SEED=n)
	$(BUN) test/model/main.ts

mutants: node_modules/.installed ## Defects put into the redirect core one by one: each must turn a test red (ONLY='text' takes some)
	$(BUN) test/mutants/main.ts '$(ONLY)'

bench: $(BINARY) ## Every target of docs/performance.md and whether it is met (minutes; QUICK=1, ONLY=part of a file name)
	$(BUN) bench/main.ts $(if $(filter-out 0 no false,$(QUICK)),--quick) '$(ONLY)'

bench-compare: node_modules/.installed ## Two results of `make bench` side by side (A=FILE B=FILE)
	@$(BUN) bench/compare.ts '$(A)' '$(B)'

soak: test ## What takes too long for every run; before an issue is called done
	$(BUN) test/soak/main.ts

clean: ## Remove what make made
	rm -rf dist .cache node_modules
