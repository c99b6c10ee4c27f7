// The flow with openid-client, like a server-side application.
import assert from "node:assert/strict";
import * as client from "openid-client";
import { Robot, ok } from "./mixed.mjs";

const [, , url, robotURL, method] = process.argv;
const resource = new URL(url);
const robot = new Robot(robotURL);
const callback = "http://localhost:43119/callback";

const config = await client.dynamicClientRegistration(new URL(resource.origin), {
  client_name: "openid-client", redirect_uris: [callback], token_endpoint_auth_method: method,
}, method === "none" ? client.None() : undefined, { algorithm: "oauth2", execute: [client.allowInsecureRequests] });
assert.equal("client_secret" in config.clientMetadata(), method !== "none");
ok("registered");

const call = (token) =>
  client.fetchProtectedResource(config, token, resource, "POST",
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_my_domains", arguments: {} } }),
    new Headers({ "Content-Type": "application/json", Accept: "application/json, text/event-stream" }));
const refused = (token) => assert.rejects(call(token), (error) => error instanceof client.WWWAuthenticateChallengeError && error.status === 401);

const pkceCodeVerifier = client.randomPKCECodeVerifier();
const expectedState = client.randomState();
const address = client.buildAuthorizationUrl(config, {
  redirect_uri: callback, scope: "mcp:write", state: expectedState, resource: resource.href,
  code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier), code_challenge_method: "S256",
});
await assert.rejects(
  client.authorizationCodeGrant(config, await robot.deny(address), { pkceCodeVerifier, expectedState }),
  (error) => error instanceof client.AuthorizationResponseError && error.error === "access_denied",
);
ok("a no is an error with iss and state");

const tokens = await client.authorizationCodeGrant(config, await robot.approve(address), { pkceCodeVerifier, expectedState });
assert.equal(tokens.expires_in, 3600);
assert.equal((await call(tokens.access_token)).status, 200);
ok("got the customer's domains");

await robot.expire();
await refused(tokens.access_token);
const next = await client.refreshTokenGrant(config, tokens.refresh_token, { resource: resource.href });
assert.equal((await call(next.access_token)).status, 200);
ok("refreshed");

await client.tokenRevocation(config, next.access_token);
await refused(next.access_token);
await assert.rejects(client.refreshTokenGrant(config, next.refresh_token), (error) => error instanceof client.ResponseBodyError && error.error === "invalid_grant");
ok("revoked");
