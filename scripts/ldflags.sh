#!/usr/bin/env bash
# Prints the linker flags of a release: stripped, with version, commit and date.
#
#   scripts/ldflags.sh VERSION COMMIT DATE
set -euo pipefail
package=github.com/dotkontor/dotkontor/internal/app
echo "-s -w -X $package.Version=${1#v} -X $package.Commit=$2 -X $package.Date=$3"
