#!/usr/bin/env bash
# Builds a release: static binaries for four platforms, an SBOM for each, checksums,
# release notes and a Dockerfile whose base images are pinned by digest.
#
#   scripts/release.sh v0.1.0 [FOLDER]     FOLDER is dist by default
#
# The same commit and Go version give the same bytes in every folder. Outside of a git
# checkout, RELEASE_COMMIT and RELEASE_DATE name the commit and its time in UTC.
# RELEASE_TARGETS selects platforms, for example "linux/amd64".
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "release: $*" >&2
  exit 1
}

version=${1-}
dist=${2:-dist}
targets=${RELEASE_TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "the version must look like v0.1.0"
if [ -z "${RELEASE_COMMIT-}" ]; then
  [ -z "$(git status --porcelain)" ] || fail "commit your changes first"
  RELEASE_COMMIT=$(git rev-parse HEAD)
  RELEASE_DATE=$(TZ=UTC0 git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ)
fi
[ -n "${RELEASE_DATE-}" ] || fail "RELEASE_DATE is not set"

notes=$(awk -v heading="## $version" '$0 == heading || index($0, heading " ") == 1 { inside = 1; next } /^## / { inside = 0 } inside' CHANGELOG.md)
[ -n "$notes" ] || fail "CHANGELOG.md has no section \"## $version\""

rm -rf "$dist"
mkdir -p "$dist"
dist=$(cd "$dist" && pwd)
printf '%s\n' "$notes" >"$dist/release-notes.md"

export CGO_ENABLED=0 GOWORK=off GOFLAGS=-mod=readonly
go build -buildvcs=false -o "$dist/.sbom" ./scripts/sbom
flags=$(scripts/ldflags.sh "$version" "$RELEASE_COMMIT" "$RELEASE_DATE")
for target in $targets; do
  name=dotkontor_${version}_${target/\//_}
  echo "release: building $name" >&2
  GOOS=${target%/*} GOARCH=${target#*/} go build -trimpath -buildvcs=false -ldflags "$flags" -o "$dist/$name" ./cmd/dotkontor
  "$dist/.sbom" -version "$version" -date "$RELEASE_DATE" "$dist/$name" >"$dist/$name.cdx.json"
done
rm "$dist/.sbom"

if ! scripts/pin-images.sh <Dockerfile >"$dist/Dockerfile"; then
  rm "$dist/Dockerfile"
  echo "release: base images are not pinned (see above); no Dockerfile is part of this release" >&2
fi
(cd "$dist" && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
cat "$dist/SHA256SUMS"
