// What every journey needs: a browser that is watched, the mailbox, and the codes
// of an authenticator app.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const sandbox = JSON.parse(readFileSync(process.argv[2], "utf8"));
export const portal = (path) => sandbox.portal + path;
export const ok = (rule) => console.log("ok " + rule);

const phone = { width: 390, height: 844 };
const desk = { width: 1280, height: 900 };
const waiting = 20_000;

// browse opens a browser with a profile of its own, hands its context to visit
// and closes it whatever happens.
export async function browse(visit, { onPhone = false, ...options } = {}) {
  const profile = mkdtempSync(join(tmpdir(), "dotkontor-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: sandbox.chromium,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    viewport: onPhone ? phone : desk,
    reducedMotion: "reduce", // a colour on its way to another one has no contrast to be judged by
    locale: "fr-FR", // the portal is German unless somebody chooses otherwise
    ...options,
  });
  context.setDefaultTimeout(waiting);
  const close = async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  };
  process.once("SIGINT", () => close().finally(() => process.exit(1)));
  try {
    const watched = watch(context);
    const result = await visit(context.pages()[0] ?? (await context.newPage()), context, watched);
    watched.check();
    return result;
  } finally {
    await close();
  }
}

// watch collects what no page may do. expects names complaints that a step
// provokes on purpose, such as the console's about a refused form.
function watch(context) {
  const complaints = [];
  const expected = [];
  const ours = new URL(sandbox.portal).host;
  const allowed = new Set([ours]);
  context.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if ((protocol === "http:" || protocol === "https:") && !allowed.has(host)) complaints.push("asks a foreign host: " + request.url());
  });
  context.on("console", (message) => {
    if (message.type() === "error" || /Content Security Policy/i.test(message.text())) {
      complaints.push("console: " + message.text() + " at " + message.location().url);
    }
  });
  context.on("weberror", (error) => complaints.push("script: " + error.error().message));
  return {
    expects: (...patterns) => expected.push(...patterns),
    allows: (host) => allowed.add(host),
    check: () => {
      const left = complaints.filter((complaint) => !expected.some((pattern) => pattern.test(complaint)));
      assert.deepEqual(left, [], "pages misbehaved");
    },
  };
}

// refusals are the console's words about an answer with this status.
export const refusal = (status) => new RegExp("status of " + status);

// mails returns those to an address, the newest first, as soon as there are as
// many as wanted, of those whose subject fits.
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

// linkIn finds the link to a page of the portal in the newest mail that has one.
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

// tool calls one as the demo customer's agent.
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

// still shows an address as it is now, without the stream that it follows: nobody
// can look at a page that changes.
export async function still(page, address) {
  await page.route(address, async (route) => {
    const response = await route.fetch();
    const body = await response.text();
    assert.match(body, followed, "the page follows nothing");
    await route.fulfill({ response, body: body.replace(followed, "") });
  });
  await page.goto(address);
  await page.unroute(address);
}

const followed = / data-events="[^"]+\/events"/;

// at waits until the page shown is the one at this path.
export const at = (page, path) => page.waitForURL((url) => url.pathname === path);

export const field = (page, name) => page.locator(`main [name="${name}"]`);
export const press = (page, name) => page.getByRole("button", { name, exact: true }).click();
