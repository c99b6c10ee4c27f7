#!/usr/bin/env bash
# Runs a script with Chromium against a sandbox of its own on a fixed day:
#   scripts/browse.sh screenshots   renders each page into docs/screenshots
#   scripts/browse.sh lighthouse    measures pages with Lighthouse
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

need_go
need chromium chromium
script=$1
case $script in
  screenshots) scripts=test/browser tools=.tools/node && scripts/node.sh ;;
  lighthouse) scripts=test/lighthouse tools=.tools/lighthouse && scripts/node.sh "$scripts" "$tools" ;;
esac
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
cp "$scripts"/*.mjs "$work"
ln -s "$PWD/$tools/node_modules" "$work/node_modules"
if [ "$script" = screenshots ]; then
  mkdir -p docs/screenshots
  rm -f docs/screenshots/*.png
fi
chromium=$(command -v chromium) pictures=$PWD/docs/screenshots binary=$work/dotkontor profile=$work/profile \
  "$tools/node_modules/.bin/node" "$work/$script.mjs" "$work/info.json"
