#!/usr/bin/env bash
# Runs the tests of test/operations whose names match the argument. They take minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

need_go
PATH=$PATH:/usr/sbin # HAProxy, for users other than root
need haproxy haproxy
need_postgres
TEST_OPERATIONS=1 go test -count=1 -v -timeout "${TIMEOUT:-30m}" -run "$1" ./test/operations
