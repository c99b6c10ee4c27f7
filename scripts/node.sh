#!/usr/bin/env bash
# Installs Node 22, the MCP clients and linters that test/mcpclients runs and the driver
# of test/browser into .tools/node:
# what test/mcpclients/package-lock.json pins, with its checksums. No install
# script of a package runs. Done once for each change of those two files.
#
#   scripts/node.sh [FOLDER TARGET]
#
# installs what another folder pins, for example test/lighthouse.
#
# Of the inspector only the command line is wanted, so package.json puts a tiny
# package (isexe) in the place of the bundler that its web pages need.
#
# After a change of package.json, write the lock anew without any registry's
# address in it:
#   cd test/mcpclients && npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

pins=("${1-test/mcpclients}/package.json" "${1-test/mcpclients}/package-lock.json")
target=${2-.tools/node}
cat "${pins[@]}" | cmp -s - "$target/installed" && exit

need npm npm
# Debian 12's npm 9 can't read a package put in another one's place.
npm=(npm)
version=$(npm --version)
[ "${version%%.*}" -ge 10 ] || npm=(npm exec --yes npm@10.9.2 --)
mkdir -p .tools
# Two runs at a time must not write into one folder.
staging=$(mktemp -d "$target.XXXXXX")
trap 'rm -rf "$staging"' EXIT
cp "${pins[@]}" "$staging"
echo "setup: installing Node 22 and what ${pins[0]} lists into $target" >&2
(cd "$staging" && timeout 900 "${npm[@]}" ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error >&2)
cat "${pins[@]}" >"$staging/installed"
rm -rf "$target"
mv "$staging" "$target"
