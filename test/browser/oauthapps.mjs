// Applications that redirect a customer to the consent page.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { portal, sandbox } from "./lib.mjs";

// newApplication registers one and returns the data for its flow.
export async function newApplication(redirect, name) {
  const answer = await fetch(portal("/oauth/register/"), {
    method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ client_name: name, redirect_uris: [redirect], logo_uri: "http://logo.invalid/logo.png", token_endpoint_auth_method: "none" }),
  });
  assert.equal(answer.status, 201);
  const { client_id } = await answer.json();
  const verifier = randomBytes(32).toString("base64url");
  // begin returns the authorization URL.
  const begin = (changes = {}) =>
    portal("/oauth/authorize/?") + new URLSearchParams({
      response_type: "code", client_id, redirect_uri: redirect, state: "a state", resource: sandbox.mcp, scope: "mcp:write",
      code_challenge: createHash("sha256").update(verifier).digest("base64url"), code_challenge_method: "S256", ...changes,
    });
  const exchange = async (form) => {
    const got = await fetch(portal("/oauth/token/"), { method: "POST", body: new URLSearchParams({ client_id, ...form }) });
    assert.equal(got.status, 200);
    return got.json();
  };
  const redeem = (code) => exchange({ grant_type: "authorization_code", code, redirect_uri: redirect, code_verifier: verifier });
  return { begin, redeem };
}

// mine lists the customer's domains and returns the status.
export async function mine(token) {
  const answer = await fetch(sandbox.mcp, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", Authorization: "Bearer " + token },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_my_domains", arguments: {} } }),
  });
  await answer.text();
  return answer.status;
}
