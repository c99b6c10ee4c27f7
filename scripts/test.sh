#!/usr/bin/env bash
# The whole test run: set up, read the code cheaply, run every test.
# Arguments go to "go test".
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

need_go
race=-race
note=
postgres=
builds=
finish() {
  [ -z "$postgres" ] || scripts/postgres.sh stop
  [ -z "$builds" ] || rm -rf "$builds"
  [ -z "$note" ] || echo "$note" >&2
}
trap finish EXIT
if ! want_race; then
  race=
  note="NOTE: without a C compiler this run had NO race detector (the top of this output says how to get one)."
fi

if [ -n "$race" ]; then
  # SQLite is C that was translated to Go: it has its own locks, which the detector does
  # not know, and no goroutines. Regular expressions have none either. Watching each of
  # their steps took most of the time of all tests together; that database/sql and we
  # use them rightly is watched.
  export GOFLAGS="${GOFLAGS-} -gcflags=modernc.org/...=-race=false -gcflags=regexp/...=-race=false"
  # A process waits a second at its end for races there; the tests start hundreds.
  export GORACE=${GORACE-atexit_sleep_ms=0}
fi

# Without them, a test each is skipped and named.
(need whois whois) || true
# What docs/checkout.md and examples/acp-complete.sh tell people to use.
(need curl curl) || true
(need jq jq) || true
(need openssl openssl) || true
(need python3 python3) || true
(need qpdf qpdf) || true
(need pdftotext poppler-utils) || true
perl -MNet::EPP::Simple -e1 2>/dev/null || (install_packages "Perl's Net::EPP" libnet-epp-perl) || true
# EPP_XSD_DIR names a folder with the EPP schemas (epp.xsd and what it imports), and
# ACP_SPEC_DIR a checkout of the protocol's repository (spec/ and examples/), both as
# absolute paths: every EPP frame and every ACP message is validated against them. Without
# them, the tests that need them are skipped and named. .ci/run finds them in ../shared.
(need xmllint libxml2-utils) || true

# A PostgreSQL for this run alone, unless somebody names another one. Without it,
# the store's tests run on SQLite only, and say so.
if [ -z "${DOTKONTOR_TEST_POSTGRES-}" ]; then
  # What a power cut would leave of it does not matter here, and half of the time of
  # the store's tests is waiting for the disk.
  if line=$(DOTKONTOR_TEST_POSTGRES_SETTINGS="fsync=off full_page_writes=off" scripts/postgres.sh start); then
    eval "$line"
    postgres=ours
  else
    echo "setup: there is no PostgreSQL, so its half of the store's tests is left out" >&2
  fi
fi

# Without it, the journeys in test/browser are skipped and named.
(need chromium chromium) || true

# Without them, the tests in test/mcpclients and test/browser are skipped and named.
scripts/node.sh || echo "setup: there are no Node packages, so test/mcpclients and test/browser are left out" >&2

bad=$(find . -name '*.go' -not -path './.*' -not -path '*/pkg/mod/*' -not -path '*/node_modules/*' \
  -not -path '*/testdata/*' -print0 | xargs -0 gofmt -l)
if [ -n "$bad" ]; then
  printf 'not formatted, run "gofmt -w" on:\n%s\n' "$bad" >&2
  exit 1
fi
# Without C, as the product is built: what is compiled here is compiled for the tests
# that build it, too.
CGO_ENABLED=0 go vet ./...

# What tests build for each other, so that the product is linked once and not by each
# package.
builds=$(mktemp -d)
export TEST_BUILDS=$builds

# The race detector changes what memory costs, and would watch long walks of a single
# goroutine, so this package is also tested without.
[ -z "$race" ] || CGO_ENABLED=0 go test -vet=off ./internal/registrar/quota

# Those that take long come first, so that no core waits for one of them at the end.
long=(./test/browser ./cmd/dotkontor ./test/kill ./test/clients ./test/contract ./internal/store)

CGO_ENABLED=0 go build -o "$builds/gotest" ./scripts/gotest
# The vet that go test would do once more is done above. One package more than there are
# cores: those that watch a browser, or a killed process come back, mostly wait.
CGO_ENABLED=${race:+1} "$builds/gotest" ${race:+"$race"} -vet=off -p $(($(nproc) + 1)) "$@" "${long[@]}" ./...
