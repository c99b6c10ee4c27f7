// The flow with oauth4webapi, which checks every response strictly against the RFCs:
// 9728, 8414, 7591, 9207, 6749, 6750, 7009.
import assert from "node:assert/strict";
import * as oauth from "oauth4webapi";
import { Robot, ok } from "./mixed.mjs";

const [, , url, robotURL, method] = process.argv;
const resource = new URL(url);
const robot = new Robot(robotURL);
const plain = { [oauth.allowInsecureRequests]: true }; // the sandbox has no TLS
const callback = "http://127.0.0.1:43118/callback";

const call = (token) =>
  oauth.protectedResourceRequest(token, "POST", resource,
    new Headers({ "Content-Type": "application/json", Accept: "application/json, text/event-stream" }),
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_my_domains", arguments: {} } }), plain);

async function refused(token) {
  await assert.rejects(call(token), (error) => {
    assert.ok(error instanceof oauth.WWWAuthenticateChallengeError);
    assert.equal(error.status, 401);
    const [{ scheme, parameters }] = error.cause;
    assert.equal(scheme, "bearer");
    assert.ok(parameters.resource_metadata.startsWith(resource.origin));
    return true;
  });
}

await refused("not-a-token");
const { authorization_servers: [issuer] } = await oauth.processResourceDiscoveryResponse(resource, await oauth.resourceDiscoveryRequest(resource, plain));
const found = await oauth.discoveryRequest(new URL(issuer), { ...plain, algorithm: "oauth2" });
const server = await oauth.processDiscoveryResponse(new URL(issuer), found);
assert.equal(server.issuer, issuer);
ok("discovered");

const client = await oauth.processDynamicClientRegistrationResponse(await oauth.dynamicClientRegistrationRequest(server, {
  client_name: "oauth4webapi", redirect_uris: [callback], token_endpoint_auth_method: method,
}, plain));
const proof = method === "none" ? oauth.None() : oauth.ClientSecretPost(client.client_secret);
ok("registered");

const verifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const address = new URL(server.authorization_endpoint);
for (const [name, value] of Object.entries({
  client_id: client.client_id, redirect_uri: callback, response_type: "code", scope: "mcp:write", state, resource: resource.href,
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256",
})) address.searchParams.set(name, value);

const denied = await robot.deny(address);
assert.throws(() => oauth.validateAuthResponse(server, client, denied, state), oauth.AuthorizationResponseError);
ok("a no is an error with iss and state");

const back = oauth.validateAuthResponse(server, client, await robot.approve(address), state);
const redeem = () => oauth.authorizationCodeGrantRequest(server, client, proof, back, callback, verifier, { ...plain, additionalParameters: { resource: resource.href } });
const first = await oauth.processAuthorizationCodeResponse(server, client, await redeem());
assert.equal(first.token_type, "bearer");
assert.equal((await call(first.access_token)).status, 200);
ok("got the customer's domains");

await robot.expire();
await refused(first.access_token);
const refresh = (token) => oauth.refreshTokenGrantRequest(server, client, proof, token, plain);
const second = await oauth.processRefreshTokenResponse(server, client, await refresh(first.refresh_token));
assert.equal((await call(second.access_token)).status, 200);
ok("refreshed");

await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, proof, second.refresh_token, plain));
await refused(second.access_token);
const over = async (answer, process) =>
  assert.rejects(async () => process(server, client, await answer), (error) => error instanceof oauth.ResponseBodyError && error.error === "invalid_grant");
await over(refresh(second.refresh_token), oauth.processRefreshTokenResponse);
await over(redeem(), oauth.processAuthorizationCodeResponse);
ok("revoked");
