// Helpers of every journey: a monitored browser, the inbox and TOTP codes.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

export const sandbox = JSON.parse(readFileSync(process.argv[2], "utf8"));
export const portal = (path) => sandbox.portal + path;
export const ok = (rule) => console.log("ok " + rule);

const phone = { width: 390, height: 844 };
const desk = { width: 1280, height: 900 };
const waiting = 45_000; // generous, because the host may take most of the CPU time

// One Chromium serves all contexts of a script; run.mjs closes it.
let launched;
export const closeBrowser = async () => (await launched)?.close();
process.once("SIGINT", () => closeBrowser().finally(() => process.exit(1)));

// withBrowser runs visit in a browser context of its own.
export async function withBrowser(visit, { onPhone = false, ...options } = {}) {
  launched ??= chromium.launch({
    executablePath: sandbox.chromium,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  const browser = await launched;
  const context = await browser.newContext({
    viewport: onPhone ? phone : desk,
    reducedMotion: "reduce", // the contrast of a colour in transition can't be judged
    locale: "de-DE",
    ...options,
  });
  context.setDefaultTimeout(waiting);
  try {
    const watched = watch(context);
    const result = await visit(await context.newPage(), context, watched);
    watched.check();
    return result;
  } finally {
    await context.close();
  }
}

// watch collects violations of what holds for every page. expects lists violations
// that a step provokes on purpose, such as the console's about a rejected form.
function watch(context) {
  const violations = [];
  const expected = [];
  const ours = new URL(sandbox.portal).host;
  const allowed = new Set([ours]);
  context.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if ((protocol === "http:" || protocol === "https:") && !allowed.has(host)) violations.push("requests a foreign host: " + request.url());
  });
  context.on("console", (message) => {
    if (message.type() === "error" || /Content Security Policy/i.test(message.text())) {
      violations.push("console: " + message.text() + " at " + message.location().url);
    }
  });
  context.on("weberror", (error) => violations.push("script: " + error.error().message));
  return {
    expects: (...patterns) => expected.push(...patterns),
    allows: (host) => allowed.add(host),
    check: () => {
      const unexpected = violations.filter((violation) => !expected.some((pattern) => pattern.test(violation)));
      assert.deepEqual(unexpected, []);
    },
  };
}

// refusal matches the console's message about a response with this status.
export const refusal = (status) => new RegExp("status of " + status);

// mails waits for this many mails to an address with a matching subject and returns
// them, newest first.
export async function mails(to, wanted = 1, subject = /./) {
  for (const end = Date.now() + waiting; ; ) {
    const answer = await fetch(sandbox.inbox + "/api/mails?to=" + encodeURIComponent(to));
    assert.equal(answer.status, 200);
    const found = (await answer.json()).mails.filter((mail) => subject.test(mail.subject)).sort((a, b) => b.id - a.id);
    if (found.length >= wanted) return found;
    assert.ok(Date.now() < end, `${found.length} of ${wanted} mails arrived: ${found.map((mail) => mail.subject)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

// linkIn returns the link to a portal page in the newest mail that has one.
export async function linkIn(to, path, wanted = 1) {
  for (const mail of await mails(to, wanted)) {
    const link = mail.links.find((url) => url.startsWith(portal(path)));
    if (link) return link;
  }
  assert.fail("no mail has a link to " + path);
}

// totp is RFC 6238 with SHA-1, six digits and 30 seconds.
export function totp(secret, at = Date.now()) {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  let bits = "";
  for (const letter of secret.replace(/[\s=]/g, "").toUpperCase()) bits += alphabet.indexOf(letter).toString(2).padStart(5, "0");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const hash = createHmac("sha1", key).update(step).digest();
  const offset = hash[19] & 15;
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

// tool calls an MCP tool with the demo customer's token.
export async function tool(name, args) {
  const answer = await fetch(sandbox.mcp, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", Authorization: "Bearer " + sandbox.demo.token },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
  });
  const text = await answer.text();
  const { result } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
  assert.ok(result && !result.isError, `${name}: ${text}`);
  return result.structuredContent;
}

// gotoWithoutStream opens a page without its event stream, so that it does not change
// while it is checked.
export async function gotoWithoutStream(page, address) {
  await page.route(address, async (route) => {
    const response = await route.fetch();
    const body = await response.text();
    assert.match(body, followed, "the page has no event stream");
    await route.fulfill({ response, body: body.replace(followed, "") });
  });
  await page.goto(address);
  await page.unroute(address);
}

const followed = / data-events="[^"]+\/events"/;

// at waits for a page with this path.
export const at = (page, path) => page.waitForURL((url) => url.pathname === path);

// atOverview waits for the page that a sign-in leads to.
export const atOverview = (page) => page.waitForURL((url) => url.pathname === "/portal" || url.pathname === "/portal/domains");

export const field = (page, name) => page.locator(`main [name="${name}"]`);
export const clickButton = (page, name) => page.getByRole("button", { name, exact: true }).click();
