#!/usr/bin/env bash
# A private PostgreSQL for tests: its own folder, its own socket, no port, no
# trace of the machine's cluster. It writes to the disk as in production (fsync).
#
#   eval "$(scripts/postgres.sh start)"   sets DOTKONTOR_TEST_POSTGRES; with
#                                         --installed, nothing is installed for it
#   scripts/postgres.sh stop              ends the server and removes the folder
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

# PostgreSQL refuses to run as root, so root lends it Debian's own user for it.
as_postgres() {
  if [ "$(id -u)" -eq 0 ]; then
    (cd / && exec runuser -u postgres -- "$@")
  else
    "$@"
  fi
}

start() {
  find_postgres || [ "${1-}" != --installed ] || exit 69
  need_postgres
  # A socket's path must be short, so the folder is not below the checkout.
  local folder
  folder=$(mktemp -d /tmp/dotkontor-pg.XXXXXX)
  [ "$(id -u)" -ne 0 ] || chown postgres: "$folder"
  # A language's order, where punctuation hardly counts, as most servers have:
  # what relies on the order of bytes must fail here and not there.
  local order=(--locale=C)
  if as_postgres "$bin/initdb" --help | grep -q -e --icu-locale; then
    order+=(--locale-provider=icu --icu-locale=de-DE)
  fi
  # DOTKONTOR_TEST_POSTGRES_SETTINGS: NAME=VALUE NAME=VALUE, for measurements.
  local settings="-k $folder -c listen_addresses= -c max_connections=300 -c shared_buffers=64MB -c fsync=on -c synchronous_commit=on" setting
  for setting in ${DOTKONTOR_TEST_POSTGRES_SETTINGS-}; do
    settings+=" -c $setting"
  done
  {
    as_postgres "$bin/initdb" -D "$folder/data" -U dotkontor -A trust -E UTF8 "${order[@]}" --no-instructions >"$folder.log" &&
      as_postgres "$bin/pg_ctl" -D "$folder/data" -s -w -t 60 -l "$folder/log" start -o "$settings"
  } >&2 || {
    cat "$folder.log" "$folder/log" >&2 2>/dev/null || true
    rm -rf "$folder" "$folder.log"
    exit 1
  }
  rm -f "$folder.log"
  echo "export DOTKONTOR_TEST_POSTGRES='postgres://dotkontor@/postgres?host=$folder'"
}

stop() {
  local folder=${DOTKONTOR_TEST_POSTGRES-}
  folder=${folder#*host=}
  case $folder in
    /tmp/dotkontor-pg.*) ;;
    *) return 0 ;; # none, or a server that is not ours to stop
  esac
  find_postgres || return 0
  as_postgres "$bin/pg_ctl" -D "$folder/data" -s -m immediate -w stop >&2 || true
  rm -rf "$folder"
}

case ${1-} in
  start) start "${2-}" ;;
  stop) stop ;;
  *)
    echo 'usage: eval "$(scripts/postgres.sh start [--installed])"; scripts/postgres.sh stop' >&2
    exit 64
    ;;
esac
