#!/usr/bin/env bash
# Proves that a release is reproducible: builds it in two folders, the second time with
# an empty build cache, and compares every file. RELEASE_TARGETS is passed on.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT
version=$(awk '/^## v/ { print $2; exit }' CHANGELOG.md)
export RELEASE_COMMIT=0123456789abcdef0123456789abcdef01234567 RELEASE_DATE=2026-01-01T00:00:00Z
for folder in first second/deeper; do
  mkdir -p "$work/$folder"
  tar -c --exclude=./.git --exclude=./.tools --exclude=./dist --exclude=./bin . | tar -x -C "$work/$folder"
done
"$work/first/scripts/release.sh" "$version" >"$work/out"
GOCACHE=$work/cache "$work/second/deeper/scripts/release.sh" "$version" >"$work/out"
diff -r "$work/first/dist" "$work/second/deeper/dist"
(cd "$work/first/dist" && sha256sum --quiet -c SHA256SUMS)
host=$work/first/dist/dotkontor_${version}_$(go env GOOS)_$(go env GOARCH)
if [ -e "$host" ]; then
  said=$("$host" version)
  for want in "${version#v}" "$RELEASE_COMMIT" "$RELEASE_DATE"; do
    [[ $said == *"$want"* ]] || { echo "release-test: \"$said\" lacks $want" >&2; exit 1; }
  done
fi
echo "release-test: two builds of $version are identical"
