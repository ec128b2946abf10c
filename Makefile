# What a person does with this repository. `make help` lists the targets.
.DEFAULT_GOAL := help

GO        ?= go
BIN       := bin/tarsy
TOOLS     := $(CURDIR)/.cache/bin
# Go test flags of your own, such as make test-go TESTFLAGS='-run Watch -v'.
TESTFLAGS ?=
# Vitest flags of your own, such as make test-browser WEBFLAGS=scroll.
WEBFLAGS  ?=
PACKAGES  ?= ./...
# Packages tested at once: one more than cores on a small machine, for tests also wait for processes and leases.
PARALLEL  ?= 3
N         ?= 50

# Without the directory in what is compiled, all clones of a user share the build cache.
export GOFLAGS := -trimpath $(filter-out -trimpath,$(shell $(GO) env GOFLAGS 2>/dev/null))

LINT_VERSION := 2.14.0
LINT         := $(TOOLS)/golangci-lint
SUMMARY      := $(GO) run ./internal/tools/testsummary

.PHONY: help run build web web-packages setup packages chromium alertmanager go test quick test-go test-unit test-e2e test-coverage test-web test-browser test-race test-race-all test-postgres fresh test-json test-times test-repeat test-crowd test-delays vet lint lint-web lint-deploy linter bench mask-report weigh licenses golden screenshots clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build setup ## fresh clone to a running demo with example alerts
	@echo "==> starting the demo (data in .tarsy; Ctrl-C stops everything)"
	@exec $(BIN) demo --data-dir .tarsy $(DEMOFLAGS)

build: go web ## build bin/tarsy, with the dashboard in it
	@echo "==> building $(BIN) (the first time downloads modules and takes a minute or two)"
	@$(GO) build -ldflags="-s -w" -o $(BIN) ./cmd/tarsy

WEB_SOURCES := $(shell find web/src web/public web/index.html web/vite.config.ts web/package-lock.json web/scripts docs/openapi.json docs/events.schema.json -type f ! -name schema.d.ts 2>/dev/null)

web: web-packages web/dist/index.html ## build the dashboard into web/dist (needs Node; without it the binary has a placeholder)

web-packages:
	@sh scripts/install-packages.sh dashboard

web/dist/index.html: $(WEB_SOURCES) | web-packages
	@if [ -e .cache/dashboard.reason ]; then \
		echo "==> no dashboard: $$(cat .cache/dashboard.reason); the binary says so where the page would be" >&2; \
	else \
		echo "==> building the dashboard" && cd web && npm run --silent build -- --logLevel warn; \
	fi

setup: ## make sure that there is a PostgreSQL server for the private database
	@echo "==> looking for PostgreSQL"
	@sh scripts/install-postgres.sh

packages: ## install what is not ours and tests talk to: MCP servers and inspector, JavaScript SDKs (needs Node)
	@echo "==> looking for the packages that tests talk to"
	@sh scripts/install-packages.sh mcp-servers
	@sh scripts/install-packages.sh mcp-inspector
	@sh scripts/install-packages.sh js-sdks

go:
	@command -v $(GO) >/dev/null 2>&1 || { echo "Go is missing: install it (see the go line of go.mod for the version), then run make again" >&2; exit 1; }

chromium:
	@echo "==> looking for Chromium"
	@sh scripts/install-chromium.sh

# After Chromium: two apt-get at once fail, because one of them has the lock.
alertmanager: chromium ## get Alertmanager and Prometheus for the end-to-end tests (Debian's packages, unpacked into .cache)
	@echo "==> looking for Alertmanager and Prometheus"
	@sh scripts/install-alertmanager.sh

# Installing waits for the network and testing for leases: each has a companion that uses the processor meanwhile. Vetting
# ends before the dashboard is built, whose files are embedded; it leaves compiled packages for the build. go test would
# run some of the checks of go vet again, which takes more than a minute of CPU time.
test: go setup ## everything, from a fresh clone
	@$(MAKE) --no-print-directory -j4 packages web-packages chromium alertmanager vet
	@$(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory -j2 test-go test-web TESTFLAGS='-vet=off $(TESTFLAGS)'
	@$(MAKE) --no-print-directory test-browser

vet: go
	@echo "==> vetting (the first time downloads modules)"
	@$(GO) vet $(PACKAGES)

test-go: go ## unit and end-to-end tests in Go, on a real database (RACE=on: with the race detector where goroutines share memory)
ifeq ($(RACE),on)
	@echo "==> testing packages whose goroutines share memory with the race detector"
	@CGO_ENABLED=1 $(SUMMARY) -race -shuffle=on -timeout=30m -p=$(PARALLEL) $(TESTFLAGS) $$(sh scripts/race-packages.sh)
	@echo "==> testing the others"
	@$(SUMMARY) -shuffle=on -timeout=30m -p=$(PARALLEL) $(TESTFLAGS) $$(sh scripts/race-packages.sh --others)
else
	@echo "==> testing"
	@$(SUMMARY) -shuffle=on -timeout=30m -p=$(PARALLEL) $(TESTFLAGS) $(PACKAGES)
endif

test-unit: PACKAGES = $$($(GO) list ./... | grep -v '/e2e$$')
test-unit: test-go ## the Go tests without the end-to-end tests

test-e2e: PACKAGES = ./e2e/...
test-e2e: test-go ## the end-to-end tests in Go

test-coverage: override TESTFLAGS += -cover
test-coverage: test-unit ## the Go tests without the end-to-end tests, with the coverage of each package

quick: go ## vet and test what your change affects, in less than a minute; prints what it leaves out
	@$(SUMMARY) -quick

test-web: web ## unit tests of the dashboard
	@echo "==> testing the dashboard"
	@if [ -e .cache/dashboard.reason ]; then echo "skipped: $$(cat .cache/dashboard.reason)"; else cd web && NO_COLOR=1 npm run --silent test -- $(WEBFLAGS); fi

test-browser: build setup chromium ## scenarios in a real Chromium against the real server
	@echo "==> testing the dashboard in Chromium"
	@for reason in .cache/dashboard.reason .cache/chromium.reason; do \
		if [ -e $$reason ]; then echo "skipped: $$(cat $$reason)"; exit 0; fi; \
	done; \
	TARSY_CHROMIUM="$$(cat .cache/chromium)"; export TARSY_CHROMIUM; cd web && NO_COLOR=1 npm run --silent test:browser -- $(WEBFLAGS)

test-race: PACKAGES = $$(sh scripts/race-packages.sh)
test-race: test-race-all ## packages whose goroutines share memory, with the race detector (needs a C compiler)

test-race-all: go ## all Go tests with the race detector
	@echo "==> testing with the race detector"
	@CGO_ENABLED=1 $(SUMMARY) -race -shuffle=on -timeout=40m $(TESTFLAGS) $(PACKAGES)

# Every supported version from npm, then the whole of the end-to-end tests on the newest with the settings that it comes with.
test-postgres: go ## the tests that depend on PostgreSQL, on versions 14 to 18 and on default settings
	@sh scripts/test-postgres.sh 14 15 16 17 18
	@sh scripts/test-postgres.sh --e2e 18-stock

fresh: go ## the fresh machine: clone, empty home and caches, no PostgreSQL, make run, first verdict, smoke (FRESHFLAGS=--warm keeps module caches)
	@sh scripts/fresh.sh $(FRESHFLAGS)

test-json: go ## the results as JSON lines, as go test -json prints them
	@$(GO) test -json $(TESTFLAGS) $(PACKAGES)

# The report of vitest has the times of the scenarios.
test-times: build setup chromium ## where CPU and wall time go in the Go tests and the browser suite, and the slowest tests
	@$(SUMMARY) -times -shuffle=on -timeout=30m -p=$(PARALLEL) $(TESTFLAGS) $(PACKAGES)
	@for reason in .cache/dashboard.reason .cache/chromium.reason; do \
		if [ -e $$reason ]; then echo "skipped the browser suite: $$(cat $$reason)"; exit 0; fi; \
	done; \
	TARSY_CHROMIUM="$$(cat .cache/chromium)" NO_COLOR=1 $(SUMMARY) -times -vitest .cache/browser-times.json sh -c \
		'cd web && exec npx vitest run --project browser --reporter=dot --reporter=json --outputFile.json=$(CURDIR)/.cache/browser-times.json $(WEBFLAGS)'

test-repeat: PACKAGES = ./e2e/... ./tarsytest/...
test-repeat: go ## the end-to-end tests N times (N=50), to find the ones that fail now and then
	@echo "==> testing $(N) times"
	@$(SUMMARY) -count=$(N) -shuffle=on -timeout=60m $(TESTFLAGS) $(PACKAGES)

# Each copy has a PostgreSQL server of its own.
test-crowd: N = 10
test-crowd: PACKAGES = ./e2e/... ./tarsytest/...
test-crowd: go ## the end-to-end tests N times at once (N=10), to find the ones that depend on how fast the machine is
	@echo "==> testing $(N) times at once"
	@$(GO) build -o .cache/testsummary ./internal/tools/testsummary
	@$(GO) test -vet=off -run='^$$' $(PACKAGES) >/dev/null # or each copy would compile the same
	@sh scripts/test-crowd.sh $(N) .cache/testsummary -vet=off -parallel=1 -shuffle=on -timeout=120m $(TESTFLAGS) $(PACKAGES)

test-delays: PACKAGES = ./e2e/... ./tarsytest/...
test-delays: build setup chromium ## the end-to-end tests and browser scenarios with delays after requests and database results, to find the ones that look too early
	@echo "==> testing with delays"
	@TARSY_DELAY_HTTP=250 TARSY_DELAY_POSTGRES=60 TARSY_TEST_SLOWNESS=3 sh scripts/test-delays.sh sh -c '$(SUMMARY) $$DELAYS -vet=off -shuffle=on -timeout=40m -p=$(PARALLEL) -parallel=8 $(TESTFLAGS) $(PACKAGES)'
	@sh scripts/test-delays.sh sh -c '$(GO) build $$DELAYS -o .cache/tarsy-delays ./cmd/tarsy'
	@TARSY_BIN=$(CURDIR)/.cache/tarsy-delays TARSY_DELAY_API=600 TARSY_DELAY_POSTGRES=20 TARSY_TEST_SLOWNESS=3 $(MAKE) --no-print-directory test-browser

lint: go linter lint-web ## golangci-lint, installed into .cache/bin if it is not there; Biome and tsc for the dashboard
	@echo "==> linting"
	@$(LINT) run $(PACKAGES)

lint-web: web
	@echo "==> linting the dashboard"
	@if [ -e .cache/dashboard.reason ]; then echo "skipped: $$(cat .cache/dashboard.reason)"; else cd web && npm run --silent lint && npm run --silent check; fi

lint-deploy: go ## check Dockerfile, compose file, Helm chart and release configuration with the programs that read them, if they have changed
	@sh scripts/lint-deploy.sh

linter:
	@[ "$$($(LINT) version --short 2>/dev/null)" = $(LINT_VERSION) ] || { \
		echo "==> installing golangci-lint $(LINT_VERSION) into .cache/bin (once; takes a few minutes)"; \
		mkdir -p $(TOOLS) && GOBIN=$(TOOLS) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(LINT_VERSION) || { \
			echo "golangci-lint could not be installed, which needs the network once" >&2; exit 1; }; }

screenshots: build setup chromium ## take the pictures of docs/images from the demo; look at each of them
	@TARSY_CHROMIUM="$$(cat .cache/chromium)"; export TARSY_CHROMIUM; cd web && npm run --silent screenshots

bench: go setup build chromium ## measure, and print the tables
	@sh scripts/install-packages.sh aimock
	@sh scripts/install-packages.sh bullmq
	@sh scripts/install-redis.sh
	@echo "==> measuring (a minute or two; leave the machine alone meanwhile)"
	@mkdir -p .cache && $(GO) test -tags=bench -c -o .cache/bench.test ./bench
	@cd bench && ../.cache/bench.test $(TESTFLAGS)
	@for reason in .cache/dashboard.reason .cache/chromium.reason; do \
		if [ -e $$reason ]; then echo "no times of the dashboard: $$(cat $$reason)"; exit 0; fi; \
	done; \
	TARSY_CHROMIUM="$$(cat .cache/chromium)"; export TARSY_CHROMIUM; cd web && npm run --silent bench

mask-report: go ## measure how well secrets are masked: recall and precision over the labelled corpus
	@$(GO) run ./internal/tools/maskreport

weigh: go ## how much there is to read and to ship, beside the last release
	@$(GO) run ./internal/tools/weigh

licenses: web ## write the licences of everything that the binary contains; refuses what is not in the list of allowed ones
	@$(GO) run ./internal/tools/licenses

golden: go ## rewrite the golden files and generated documents; review the diff like code
	@$(GO) test $$(grep -rlE --include='*_test.go' --exclude-dir=bench 'Bool\("update"|(tarsytest|flowtest)\.' . | xargs -n1 dirname | sort -u) -count=1 -update

clean: ## remove what was built (the demo's data in .tarsy stays)
	@rm -rf bin .cache coverage.out web/node_modules
	@find web/dist -mindepth 1 ! -name .keep -delete
