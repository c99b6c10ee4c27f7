#!/bin/sh
# Orders a domain as a customer's own agent does (start_order, over MCP), and then
# completes that order as a checkout agent that the customer has linked: with curl,
# jq and "dotkontor acp sign".
#
#   dotkontor sandbox --info sandbox.json      (in one terminal)
#   examples/acp-complete.sh sandbox.json      (in another one)
#
# The second argument is the domain; without it, one that is free in the sandbox.
# DOTKONTOR is the program that signs, TOKEN the payment token.
set -eu

info=${1:?usage: acp-complete.sh INFO [DOMAIN]}
name=${2:-beispiel-$(date +%s)-$$.de}
dotkontor=${DOTKONTOR:-dotkontor}
token=${TOKEN:-spt_ok_$$}

# Keys and secrets are passed in files, so that they don't appear in process lists.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
info_field() { jq -er "$1" "$info"; }
info_field '"Authorization: Bearer " + .demo.token' >"$work/customer"
info_field '.agent.secret' >"$work/secret"

# call TOOL ARGUMENTS calls a tool as the customer's agent.
call() {
  jq -n --arg tool "$1" --argjson arguments "$2" \
    '{jsonrpc: "2.0", id: 1, method: "tools/call", params: {name: $tool, arguments: $arguments}}' |
    curl -sS --fail-with-body -H "@$work/customer" -H 'Accept: application/json, text/event-stream' \
      -H 'Content-Type: application/json' --data-binary @- "$(info_field .mcp_url)" |
    jq -e 'if .result.isError then error(.result.content[0].text) else .result.structuredContent end'
}

order=$(call start_order "$(jq -n --arg name "$name" '{items: [{domain: $name, type: "register"}]}')" | jq -er .orderId)
echo "order: $order"

# The signature covers the time and the exact bytes of the body.
jq -cn --arg token "$token" '{payment_data: {token: $token, provider: "stripe"}}' >"$work/body"
"$dotkontor" acp sign --secret-file "$work/secret" "$work/body" >"$work/headers"
curl -sS --fail-with-body -H "@$work/headers" -H 'Content-Type: application/json' -H "Idempotency-Key: complete-$order" \
  --data-binary "@$work/body" "$(info_field .base_url)/api/acp/checkout_sessions/$order/complete" >"$work/session" || {
  cat "$work/session" >&2
  exit 1
}
echo "session: $(jq -er .status "$work/session")"

for _ in $(seq 60); do
  status=$(call get_order_status "$(jq -n --arg order "$order" '{orderId: $order}')" | jq -er .status)
  case $status in
  completed)
    echo "registered: $name"
    exit 0
    ;;
  paying | provisioning) sleep 1 ;;
  *) break ;;
  esac
done
echo "the order is $status" >&2
exit 1
