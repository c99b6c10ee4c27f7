# The commands for contributors. `make` alone lists them.

# A build does not depend on the user's flags or workspace. Tests build without git,
# which fails in a checkout that belongs to another user.
export GOFLAGS := -mod=readonly -buildvcs=false
export GOWORK  := off
# Packages compiled without cgo and without the path of this folder are shared by all of
# these, by releases and by other checkouts.
build vet test test-unit upgrade pitr cluster: export GOFLAGS += -trimpath
build vet test test-unit upgrade pitr cluster: export CGO_ENABLED := 0
SHELL    := bash
.SHELLFLAGS := -o pipefail -c

TOOL     := go tool -modfile=tools.mod
# The binary records its commit if there is one.
VCS      := $(if $(shell git rev-parse --verify --quiet HEAD 2>/dev/null),auto,false)
TIMEOUT  ?= 40m
FUZZTIME ?= 20s

.DEFAULT_GOAL := help
.PHONY: help build run test test-unit check format-check vet lint tidy-check vulncheck generate bench soak upgrade pitr cluster screenshots lighthouse fuzz release release-test clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

build: ## build bin/dotkontor, static and reproducible
	go build -buildvcs=$(VCS) -o bin/dotkontor ./cmd/dotkontor

run: build ## run it against the sandbox, offline
	bin/dotkontor sandbox

ifneq ($(PKG)$(RUN),)
test: ## run every test with the race detector; PKG=./internal/... RUN=TestX runs some, without it
	go test -timeout $(TIMEOUT) $(if $(RUN),-run '$(RUN)') $(or $(PKG),./...)
else
test:
	@scripts/test.sh -timeout $(TIMEOUT)
endif

# The suites in test/ start the product, so only what reads the sources is run from there.
# Half of the time goes into linking, which is faster without DWARF and with less garbage
# collection.
test-unit: ## run the tests that start no product, database server or browser
	@packages=$$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | grep -v "$$(go list -m)/test/"); \
	env -u DOTKONTOR_TEST_POSTGRES GOGC=400 go test -short -vet=off -ldflags=-w -p 3 -parallel 8 -timeout $(TIMEOUT) $$packages ./test/docs ./test/imports

check: format-check vet lint tidy-check vulncheck ## every static check

format-check: ## check the format with gofumpt
	@bad=$$($(TOOL) gofumpt -l .) && if [ -n "$$bad" ]; then \
		printf 'not formatted, run "%s gofumpt -w ." :\n%s\n' '$(TOOL)' "$$bad"; exit 1; fi

vet: ## go vet
	go vet ./...

lint: ## golangci-lint (its first build takes some minutes)
	$(TOOL) golangci-lint run ./...

tidy-check: ## check that go.mod and tools.mod are tidy and the modules unmodified
	go mod tidy -diff
	@scripts/tidy-tools.sh -diff
	go mod verify

vulncheck: ## govulncheck, if its database is reachable
	@scripts/vulncheck.sh

generate: ## generate internal/store/query from its queries and migrations (builds sqlc the first time)
	GOFLAGS= go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate

bench: ## run the benchmarks
	go run ./test/bench

soak: ## long-running load and crash tests (see test/soak and test/crash/soak)
	go run ./test/soak -scenario hostile
	go run ./test/soak -scenario agents
	go run ./test/crash/soak

upgrade: ## replace nodes one by one under load, also those of the previous release (needs the git history)
	@TIMEOUT=$(TIMEOUT) scripts/operations.sh RollingUpgrade

pitr: ## restore PostgreSQL to a point in time and compare with payments and registry
	@TIMEOUT=$(TIMEOUT) scripts/operations.sh PointInTime

cluster: ## run three nodes behind HAProxy for half an hour, with faults (ARGS='-minutes 3')
	@scripts/cluster.sh $(ARGS)

screenshots: ## render each page into docs/screenshots (needs Chromium)
	@scripts/browse.sh screenshots

lighthouse: ## measure the shop's pages with Lighthouse, which must give 98 or more (needs Chromium)
	@scripts/browse.sh lighthouse

fuzz: ## run each fuzz target for FUZZTIME (20s)
	@grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' $$(go list -f '{{.Dir}}' ./...) | sort -u | while IFS=: read -r file target; do \
		dir=$$(dirname "$$file"); target=$${target#func }; \
		echo "$$dir $$target"; \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$dir" </dev/null || exit 1; \
	done

release: ## build binaries, checksums, SBOM and release notes into dist (VERSION=v0.1.0)
	@scripts/release.sh $(VERSION)

release-test: ## build a release twice in different folders and compare
	@scripts/release-test.sh

clean: ## remove everything the other targets build
	rm -rf bin dist coverage.out
