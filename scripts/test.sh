#!/usr/bin/env bash
# The complete test run: install what is missing, check the code, run every test.
# Arguments are passed to "go test".
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

need_go
race=-race
note=
postgres=
builds=
finish() {
  wait
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
  # SQLite is C translated to Go, with its own locks, which the detector does not know,
  # and no goroutines. Regular expressions have none either. Instrumenting them takes most
  # of the time of the whole run; database/sql and our use of both stay instrumented.
  export GOFLAGS="${GOFLAGS-} -gcflags=modernc.org/...=-race=false -gcflags=regexp/...=-race=false"
  # By default an instrumented process sleeps a second before it exits; the tests start
  # hundreds.
  export GORACE=${GORACE-atexit_sleep_ms=0}
fi

# A test whose program is missing is skipped and listed at the end.
(need whois whois) || true
# docs/checkout.md and examples/acp-complete.sh use these.
(need curl curl) || true
(need jq jq) || true
(need openssl openssl) || true
(need python3 python3) || true
(need promtool prometheus) || true # test/monitoring runs the tests of the alerts with it
(need qpdf qpdf) || true
(need pdftotext poppler-utils) || true
perl -MNet::EPP::Simple -e1 2>/dev/null || (install_packages "Perl's Net::EPP" libnet-epp-perl) || true
# EPP_XSD_DIR is the absolute path of a folder with the EPP schemas (epp.xsd and what it
# imports), ACP_SPEC_DIR that of a checkout of the ACP repository (spec/ and examples/).
# Every EPP frame and every ACP message is validated against them; without them those
# tests are skipped and listed. .ci/run finds both in ../shared.
(need xmllint libxml2-utils) || true
(need redis-server redis-server) || true

# One PostgreSQL for this run, unless the environment names another. Without it, the
# tests run on SQLite only and the others are listed as skipped.
if [ -z "${DOTKONTOR_TEST_POSTGRES-}" ]; then
  # The data does not have to survive a power failure, and waiting for the disk is half
  # of the time of the store's tests.
  if line=$(DOTKONTOR_TEST_POSTGRES_SETTINGS="fsync=off full_page_writes=off" scripts/postgres.sh start); then
    eval "$line"
    postgres=ours
  else
    echo "setup: there is no PostgreSQL, so the tests that need it are skipped" >&2
  fi
fi

# The headless shell runs the journeys in half of Chromium's CPU time.
(need chromium-headless-shell chromium-headless-shell) || (need chromium chromium) || true
# A new checkout downloads them for a minute, in which the code is compiled.
(scripts/node.sh || echo "setup: there are no Node packages, so test/mcpclients and test/browser are skipped" >&2) &

bad=$(find . -name '*.go' -not -path './.*' -not -path '*/pkg/mod/*' -not -path '*/node_modules/*' \
  -not -path '*/testdata/*' -print0 | xargs -0 gofmt -l)
if [ -n "$bad" ]; then
  printf 'not formatted, run "gofmt -w" on:\n%s\n' "$bad" >&2
  exit 1
fi
# As the tests are built, so that on a new machine each dependency is compiled once for
# both. Nobody reads DWARF here, and linking it takes a third of a test binary's link time.
GOGC=400 CGO_ENABLED=${race:+1} go vet ${race:+"$race"} ./... # compiles nearly everything
export GOFLAGS="${GOFLAGS-} -ldflags=-w"

# Test packages share what they build here, so that the product is linked once.
builds=$(mktemp -d)
export TEST_BUILDS=$builds

# The race detector changes memory use, so this package is also tested without.
[ -z "$race" ] || CGO_ENABLED=0 go test -vet=off ./internal/registrar/ratelimit

# The longest packages start first, so that no core waits for one of them at the end.
long=()
for package in test/browser internal/store test/crash test/mcpclients cmd/dotkontor test/contract test/cluster test/integration/orders; do
  [ -z "$(find "$package" -maxdepth 1 -name '*_test.go' 2>/dev/null)" ] || long+=("./$package")
done

CGO_ENABLED=0 go build -o "$builds/gotest" ./scripts/gotest
wait # for the Node packages
# go vet has already run. More packages and tests than there are cores, because many wait
# for browsers, processes and jobs.
CGO_ENABLED=${race:+1} "$builds/gotest" ${race:+"$race"} -vet=off -p $(($(nproc) + 1)) -parallel $(($(nproc) * 2)) "$@" "${long[@]}" ./...
