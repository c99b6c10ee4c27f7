#!/usr/bin/env bash
# Prints the linker flags of a release: stripped, with version, commit and date.
#
#   scripts/ldflags.sh VERSION COMMIT DATE
set -euo pipefail
flags="-s -w"
# The linker ignores variables of packages that are not linked.
for package in main github.com/dotkontor/dotkontor/internal/app; do
  flags+=" -X $package.Version=${1#v} -X $package.Commit=$2 -X $package.Date=$3"
done
echo "$flags"
