#!/usr/bin/env bash
# Runs govulncheck, or prints why it does not.
set -euo pipefail
cd "$(dirname "$0")/.."

version=v1.9.0
database=${GOVULNDB:-https://vuln.go.dev}
if ! curl -fsS --max-time 15 -o /dev/null "$database/index/db.json"; then
  echo "check: govulncheck skipped: $database is not reachable" >&2
  exit 0
fi
GOFLAGS= go run "golang.org/x/vuln/cmd/govulncheck@$version" ./...
