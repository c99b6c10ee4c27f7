// A new customer registers without a password, adds a passkey, signs in with it,
// creates a token, uses and revokes it, and is rejected.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { atOverview, clickButton, field, ok, portal, sandbox, withBrowser } from "./lib.mjs";
import { address, isSignedIn, makeToken, register, signOut } from "./accounts.mjs";

// virtualKey adds an authenticator that verifies its user and consents.
async function virtualKey(context, page) {
  const devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true,
      isUserVerified: true, automaticPresenceSimulation: true,
    },
  });
}

async function connect(token) {
  const client = new Client({ name: "stranger", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(sandbox.mcp), {
    requestInit: { headers: { Authorization: "Bearer " + token } },
  }));
  return client;
}

await withBrowser(async (page, context) => {
  await virtualKey(context, page);
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: sandbox.portal });
  await register(page, address("passkey"));
  ok("registered without a password");

  await page.goto(portal("/portal/security"));
  await field(page, "name").fill("Laptop");
  await clickButton(page, "Passkey hinzufügen");
  await page.getByRole("cell", { name: "Laptop", exact: true }).waitFor();
  ok("passkey added");

  const before = await context.cookies();
  await signOut(page);
  assert.equal(await isSignedIn(page), false);
  await page.goto(portal("/portal/sign-in"));
  await clickButton(page, "Mit Passkey anmelden");
  await atOverview(page);
  const session = (cookies) => cookies.find((cookie) => cookie.name === "dotkontor")?.value;
  assert.ok(session(before) && session(await context.cookies()));
  assert.notEqual(session(before), session(await context.cookies()), "the session is another one after sign-in");
  ok("signed in by passkey");

  const token = await makeToken(page, "Agent auf dem Laptop");
  await clickButton(page, "Kopieren");
  await page.getByText("Kopiert.", { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), token);
  ok("token copied");
  await page.goto(portal("/portal/tokens"));
  assert.ok(!(await page.content()).includes(token));
  assert.ok(!(await page.content()).includes("dotkontor_live_"));
  ok("token shown once");

  const client = await connect(token);
  const { structuredContent } = await client.callTool({ name: "list_my_domains", arguments: {} });
  assert.deepEqual(structuredContent, { domains: [], total: 0, limit: 100, offset: 0 });
  ok("token used");

  await page.getByRole("button", { name: "Token Agent auf dem Laptop widerrufen" }).click();
  await page.getByText("Sie haben noch kein Token.").waitFor();
  await assert.rejects(
    client.callTool({ name: "list_my_domains", arguments: {} }),
    (error) => error.code === 401 || error.constructor.name === "UnauthorizedError",
  );
  await client.close().catch(() => {});
  const refused = await fetch(sandbox.mcp, {
    method: "POST",
    headers: {
      Authorization: "Bearer " + token, "Content-Type": "application/json", Accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_my_domains", arguments: {} } }),
  });
  assert.equal(refused.status, 401);
  ok("revoked token rejected at the next call");
});
