#!/usr/bin/env bash
# Runs several nodes with faults (test/cluster/rig). Arguments are passed on.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

need_go
PATH=$PATH:/usr/sbin # HAProxy, for users other than root
need haproxy haproxy
need redis-server redis-server
need_postgres
# Not "go run", which would end before the rig has stopped its servers.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
CGO_ENABLED=0 go build -o "$folder/rig" ./test/cluster/rig
"$folder/rig" "$@"
