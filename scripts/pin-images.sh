#!/usr/bin/env bash
# Copies a Dockerfile from stdin to stdout with every base image pinned by digest. Fails,
# and prints the reason, if a registry is not reachable.
set -euo pipefail

# digest IMAGE:TAG asks the image's registry (distribution specification, anonymous).
digest() {
  local image=${1%:*} tag=${1##*:} registry=registry-1.docker.io url headers realm service token
  case $image in
  *.*/*) registry=${image%%/*} image=${image#*/} ;;
  */*) ;;
  *) image=library/$image ;;
  esac
  url=https://$registry/v2/$image/manifests/$tag
  local accept='Accept: application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json'
  headers=$(curl -sSI --max-time 30 -H "$accept" "$url") || return
  if grep -qi '^www-authenticate: bearer' <<<"$headers"; then
    realm=$(sed -n 's/.*realm="\([^"]*\)".*/\1/p' <<<"$headers")
    service=$(sed -n 's/.*service="\([^"]*\)".*/\1/p' <<<"$headers")
    token=$(curl -fsS --max-time 30 "$realm?service=$service&scope=repository:$image:pull" | jq -r '.token // .access_token') || return
    headers=$(curl -fsSI --max-time 30 -H "$accept" -H "Authorization: Bearer $token" "$url") || return
  fi
  tr -d '\r' <<<"$headers" | awk 'tolower($1) == "docker-content-digest:" { print $2 }' | grep -E '^sha256:[0-9a-f]{64}$'
}

while IFS= read -r line; do
  if [[ $line =~ ^FROM\ ([^[:space:]@]+:[^[:space:]@]+)(.*)$ ]]; then
    image=${BASH_REMATCH[1]} rest=${BASH_REMATCH[2]}
    if ! pinned=$(digest "$image"); then
      echo "pin-images: no digest for $image" >&2
      exit 1
    fi
    line="FROM $image@$pinned$rest"
  fi
  printf '%s\n' "$line"
done
