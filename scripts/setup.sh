# shellcheck shell=bash
# What the tests need beyond Go itself. A script that needs it sources this
# file and says so:
#
#   . scripts/setup.sh
#   need redis-server redis-server
#
# Root gets the package installed; anybody else gets the command to run.

# apt_updated keeps the package lists from being fetched once per package.
apt_updated=

# need COMMAND PACKAGE...: COMMAND can be run afterwards, or the script ends.
# Call it in a subshell where the script has another way to go on.
need() {
  local command=$1
  shift
  command -v "$command" >/dev/null && return
  install_packages "$command" "$@"
  command -v "$command" >/dev/null && return
  echo "setup: $command is still missing after installing $*" >&2
  exit 1
}

# install_packages WHAT PACKAGE... installs, or says how to and ends the script.
install_packages() {
  local what=$1
  shift
  if ! command -v apt-get >/dev/null; then
    echo "setup: $what is missing, and there is no apt-get to install it with (Debian: $*)" >&2
    exit 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    echo "setup: $what is missing; run: sudo apt-get install -y --no-install-recommends $*" >&2
    exit 1
  fi
  echo "setup: installing $* for $what" >&2
  if [ -z "$apt_updated" ]; then
    apt-get update -qq >&2
    apt_updated=yes
  fi
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
}

# need_go: Debian's own Go is too old, so this one can only be asked for.
need_go() {
  if ! command -v go >/dev/null; then
    echo "setup: go is missing; install the version that go.mod names from https://go.dev/dl/" >&2
    exit 1
  fi
  go version >/dev/null || exit 1 # inside a module this fails, with the reason, when Go is too old
}

# can_race tries what the race detector needs, a C compiler with its headers,
# by building the one package of Go's that needs both.
can_race() {
  CGO_ENABLED=1 go build -race runtime/cgo >/dev/null 2>&1
}

# want_race installs the compiler if it is missing and may be installed. The
# tests can run without, so failing ends nothing.
want_race() {
  can_race && return
  (install_packages "a C compiler, for the race detector," gcc libc6-dev) && can_race
}

# find_postgres sets bin to the folder of the newest PostgreSQL that is installed.
find_postgres() {
  bin=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
  if [ -z "$bin" ] && command -v initdb >/dev/null; then
    bin=$(dirname "$(command -v initdb)")
  fi
  [ -n "$bin" ] && [ -x "$bin/initdb" ] && [ -x "$bin/pg_ctl" ]
}

# need_postgres: there is a PostgreSQL afterwards, or the script ends.
need_postgres() {
  find_postgres && return
  # Debian's package would make and start a cluster for the whole machine.
  if [ "$(id -u)" -eq 0 ] && [ ! -e /etc/postgresql-common/createcluster.conf ]; then
    mkdir -p /etc/postgresql-common
    echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
  fi
  install_packages "a PostgreSQL server" postgresql
  find_postgres && return
  echo "setup: PostgreSQL is still missing after installing it" >&2
  exit 1
}
