# Everything a contributor types. `make` alone lists it.

# A build must not depend on who runs it: no flags and no workspace of the
# user's, and no git for the tests (a checkout owned by another user would
# make git, and with it the build, fail).
export GOFLAGS := -mod=readonly -buildvcs=false
export GOWORK  := off

TOOL     := go tool -modfile=tools.mod
# The binary carries its commit where there is one to carry.
VCS      := $(if $(shell git rev-parse --verify --quiet HEAD 2>/dev/null),auto,false)
TIMEOUT  ?= 20m
FUZZTIME ?= 20s

.DEFAULT_GOAL := help
.PHONY: help build run test check format-check vet lint tidy-check generate bench soak screenshots fuzz clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

build: ## build bin/dotkontor, static and reproducible
	CGO_ENABLED=0 go build -trimpath -buildvcs=$(VCS) -o bin/dotkontor ./cmd/dotkontor

run: build ## run it against the sandbox, offline
	bin/dotkontor sandbox

test: ## set up what is missing, then vet and run every test with the race detector
	@scripts/test.sh -timeout $(TIMEOUT)

check: format-check vet lint tidy-check ## everything that reads the code without running it

format-check: ## is the code formatted as gofumpt would?
	@bad=$$($(TOOL) gofumpt -l .) && if [ -n "$$bad" ]; then \
		printf 'not formatted, run "%s gofumpt -w ." :\n%s\n' '$(TOOL)' "$$bad"; exit 1; fi

vet: ## go vet
	go vet ./...

lint: ## golangci-lint (its first build takes some minutes)
	$(TOOL) golangci-lint run ./...

tidy-check: ## are go.mod and tools.mod tidy?
	go mod tidy -diff
	@scripts/tidy-tools.sh -diff

generate: ## write internal/store/query anew from its queries and migrations (builds sqlc the first time)
	GOFLAGS= go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate

bench: ## run the benchmarks
	go run ./test/bench

soak: ## ten hostile minutes under full load, 2,000 polite agents (see test/soak), 400 kills over 500 paid lines and 300 orders (see test/crash)
	go run ./test/soak -scenario hostile
	go run ./test/soak -scenario agents
	go run ./test/kill/soak

screenshots: ## render each page into docs/screenshots (needs Chromium)
	@scripts/screenshots.sh

fuzz: ## run each fuzz target for FUZZTIME (20s)
	@grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' $$(go list -f '{{.Dir}}' ./...) | sort -u | while IFS=: read -r file target; do \
		dir=$$(dirname "$$file"); target=$${target#func }; \
		echo "$$dir $$target"; \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$dir" </dev/null || exit 1; \
	done

clean: ## remove what the targets above have made
	rm -rf bin dist coverage.out
