#!/usr/bin/env bash
# "go mod tidy" for tools.mod; -diff only looks. In the checkout itself the
# command would add whatever the product imports to the tools' module, so it
# runs on a copy in an empty folder.
set -euo pipefail
cd "$(dirname "$0")/.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp tools.mod "$copy/go.mod"
cp tools.sum "$copy/go.sum"
(cd "$copy" && go mod tidy "$@")
cp "$copy/go.mod" tools.mod
cp "$copy/go.sum" tools.sum
