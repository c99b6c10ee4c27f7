// The mixed flow of an agent with a client of either SDK: it looks up a name
// anonymously, lists the customer's domains, is sent to sign in, gets them, and gets
// them again after an hour without the customer.
import assert from "node:assert/strict";

const callback = "http://localhost:43117/callback";

export const ok = (rule) => console.log("ok " + rule);

// Robot is the customer.
export class Robot {
  constructor(url) {
    this.url = url;
  }
  async ask(what) {
    const answer = await fetch(this.url + what);
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    return text;
  }
  approve = async (url) => new URL(await this.ask("/approve?url=" + encodeURIComponent(url)));
  deny = async (url) => new URL(await this.ask("/deny?url=" + encodeURIComponent(url)));
  expire = () => this.ask("/expire");
}

// Keychain stores what an SDK needs, as its users implement it.
export class Keychain {
  redirects = [];
  saved = [];
  constructor(robot, method) {
    this.robot = robot;
    this.method = method;
  }
  get redirectUrl() {
    return callback;
  }
  get clientMetadata() {
    return {
      client_name: "Mixed flow", redirect_uris: [callback], grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"], token_endpoint_auth_method: this.method,
    };
  }
  state = () => "a state of ours";
  clientInformation = () => this.client;
  saveClientInformation = (client) => void (this.client = client);
  tokens = () => this.saved.at(-1);
  saveTokens = (tokens) => void this.saved.push(tokens);
  saveCodeVerifier = (verifier) => void (this.verifier = verifier);
  codeVerifier = () => this.verifier;
  discoveryState = () => this.discovered;
  saveDiscoveryState = (state) => void (this.discovered = state);
  async redirectToAuthorization(url) {
    this.redirects.push(await this.robot.approve(url));
  }
}

export async function mixed({ client, transport, keychain, robot, Unauthorized, finish }) {
  const mine = () => client.callTool({ name: "list_my_domains", arguments: {} });
  // The demo customer has a domain in each of six states.
  const states = ({ structuredContent }) => new Set(structuredContent.domains.map((domain) => domain.status)).size;
  await client.connect(transport);
  const free = await client.callTool({ name: "domain_check", arguments: { domain: "nobody-has-this-name.com" } });
  assert.equal(free.structuredContent.available, true);
  assert.equal(keychain.redirects.length, 0);
  ok("looked up anonymously");

  await assert.rejects(mine, (error) => error instanceof Unauthorized);
  assert.equal(keychain.redirects.length, 1);
  assert.ok(keychain.client.client_id);
  assert.equal("client_secret" in keychain.client, keychain.method !== "none");
  ok("sent to sign in");

  const back = keychain.redirects[0].searchParams;
  assert.equal(back.get("state"), "a state of ours");
  await finish(back);
  const owned = await mine();
  assert.notEqual(owned.isError, true);
  assert.equal(states(owned), 6);
  assert.equal(keychain.saved.at(-1).expires_in, 3600);
  ok("got the customer's domains");

  const before = keychain.saved.at(-1);
  await robot.expire();
  assert.equal(states(await mine()), 6);
  const after = keychain.saved.at(-1);
  assert.notEqual(after.access_token, before.access_token);
  assert.notEqual(after.refresh_token, before.refresh_token);
  assert.equal(keychain.redirects.length, 1, "the customer was bothered");
  ok("refreshed by itself");
  await client.close();
}
