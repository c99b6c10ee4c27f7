#!/usr/bin/env bash
# Renders each page into docs/screenshots, from a sandbox of its own on a fixed day.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

need_go
need chromium chromium
scripts/node.sh
work=$(mktemp -d)
product=
finish() {
  [ -z "$product" ] || kill "$product" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

go build -o "$work/dotkontor" ./cmd/dotkontor
mkfifo "$work/said"
"$work/dotkontor" sandbox --listen 127.0.0.1:0 --data "$work/data" --info "$work/info.json" --time 2026-11-15T09:00:00Z >"$work/said" 2>"$work/log" &
product=$!
ready=
while read -r line; do
  case $line in ready*) ready=yes && break ;; esac
done <"$work/said"
[ -n "$ready" ] || {
  cat "$work/log" >&2
  exit 1
}

# Modules are looked for beside the scripts.
cp test/browser/*.mjs "$work"
ln -s "$PWD/.tools/node/node_modules" "$work/node_modules"
mkdir -p docs/screenshots
rm -f docs/screenshots/*.png
chromium=$(command -v chromium) pictures=$PWD/docs/screenshots binary=$work/dotkontor \
  .tools/node/node_modules/.bin/node "$work/screenshots.mjs" "$work/info.json"
