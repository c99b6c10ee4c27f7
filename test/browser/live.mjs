// An order page until the order is completed: with script it neither reloads nor moves
// and keeps the focus; without an event stream or without script it reloads itself.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { at, clickButton, field, ok, portal, refusal, sandbox, tool, withBrowser } from "./lib.mjs";
import { checkPage } from "./checkpage.mjs";
import { signIn } from "./accounts.mjs";

const run = promisify(execFile);
const heading = (page, name) => page.getByRole("heading", { level: 1, name, exact: true });
const draw = () => Date.now().toString(36) + Math.random().toString(36).slice(2, 6);
const state = (page, name) => page.locator("tr", { hasText: name }).locator(".badge");

// order has an agent prepare a transfer, which takes five days, and optionally a
// registration. The customer pays and returns to the order page.
async function order(page, { registered = "" } = {}) {
  const label = "transfer-" + draw();
  const items = [{ domain: label + ".at", type: "transfer" }];
  if (registered) items.unshift({ domain: registered, type: "register" });
  const made = await tool("start_order", { items });
  await page.goto(made.payment_url);
  await field(page, "code").fill("auth-" + label);
  await clickButton(page, "Auth-Code speichern");
  await page.getByText("Der Auth-Code ist hinterlegt.").waitFor();
  if (!registered) {
    await clickButton(page, "Kostenlos beauftragen");
  } else {
    await clickButton(page, "Zahlungspflichtig bestellen");
    await page.waitForURL(sandbox.provider + "/**");
    await page.locator("#cardNumber").fill("4242424242424242");
    await page.locator("#pay").click();
  }
  await at(page, new URL(made.payment_url).pathname);
  return { transferred: label + ".at", id: made.orderId, pay: made.payment_url };
}

// advanceUntil moves the registry's clock by six days until the page shows the end: the
// transfer may start after the first move.
async function advanceUntil(shown) {
  let arrived = false;
  const done = shown.then(() => (arrived = true));
  while (!arrived) {
    await run(sandbox.clock[0], sandbox.clock.slice(1));
    await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 1000))]);
  }
}

// navigations counts page loads from now on.
function navigations(page) {
  const seen = { count: 0 };
  page.on("framenavigated", (frame) => {
    if (frame === page.mainFrame()) seen.count++;
  });
  return seen;
}

// streams counts opened and closed event streams.
function streams(page) {
  const seen = { opened: 0, over: 0 };
  const isStream = (request) => new URL(request.url()).pathname.endsWith("/events");
  page.on("request", (request) => (seen.opened += isStream(request)));
  page.on("requestfinished", (request) => (seen.over += isStream(request)));
  page.on("requestfailed", (request) => (seen.over += isStream(request)));
  return seen;
}

const until = async (what, holds) => {
  for (const end = Date.now() + 20_000; !(await holds()); await new Promise((resolve) => setTimeout(resolve, 50))) {
    assert.ok(Date.now() < end, what);
  }
};

// setHidden simulates another tab in front.
const setHidden = (page, hidden) =>
  page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);

async function live(page, context, watched) {
  watched.allows(new URL(sandbox.provider).host);
  await signIn(page, sandbox.demo.email, sandbox.demo.password);
  const seen = streams(page);
  const registered = "live-" + draw() + ".de";
  const { transferred, id } = await order(page, { registered });
  const loaded = navigations(page);
  await state(page, registered).getByText("registriert", { exact: true }).waitFor({ timeout: 60_000 });
  assert.equal(await state(page, transferred).textContent(), "Umzug läuft");
  assert.equal(loaded.count, 0, "the page was loaded again");
  await heading(page, "Bestellung wird bearbeitet").waitFor();
  await checkPage(page, "a purchase under way");
  assert.equal(loaded.count, 0, "the page was loaded again");
  ok("a completed registration is shown without a reload");

  assert.equal(seen.opened - seen.over, 1, "one stream is open");
  await setHidden(page, true);
  await until("a hidden page keeps its stream", () => seen.opened === seen.over);
  await setHidden(page, false);
  await until("the stream does not come back", () => seen.opened === seen.over + 1);
  ok("a hidden page has no stream");

  const link = page.getByRole("link", { name: "Alle Bestellungen" });
  await link.focus();
  await page.locator("#items").evaluate((title) => getSelection().selectAllChildren(title));
  // Below the good news, which comes first, the row stays where it was; it then has its term, too.
  const stands = () =>
    page.locator("tr", { hasText: transferred }).evaluate((row) => row.getBoundingClientRect().top - row.closest("section").getBoundingClientRect().top);
  const before = await stands();
  const said = page.locator("#said");
  await advanceUntil(heading(page, "Bestellung abgeschlossen").waitFor({ timeout: 60_000 }));
  assert.equal(await state(page, transferred).textContent(), "umgezogen");
  assert.match(await page.title(), /^Bestellung abgeschlossen · /);
  assert.equal(await said.textContent(), transferred + ": umgezogen");
  assert.equal(loaded.count, 0, "the page was loaded again");
  assert.ok(await link.evaluate((element) => element === document.activeElement), "the focus was lost");
  assert.equal(await page.evaluate(() => getSelection().toString()), "Ihre Bestellung");
  assert.equal(await stands(), before, "the row has moved");
  await until("the stream stays open at the end", () => seen.opened === seen.over);
  await checkPage(page, "a purchase that is done");
  ok("a completed transfer is shown without a reload, keeps the focus and is announced");
  return id;
}

async function portalLive(page) {
  await signIn(page, sandbox.demo.email, sandbox.demo.password);
  const { transferred, id } = await order(page);
  await page.goto(portal("/portal/orders/" + id));
  await state(page, transferred).getByText("Umzug läuft").waitFor();
  const loaded = navigations(page);
  await checkPage(page, "an order under way");
  await advanceUntil(state(page, transferred).getByText("umgezogen").waitFor({ timeout: 60_000 }));
  assert.equal(loaded.count, 0, "the page was loaded again");
  ok("the order in the portal updates live");
}

async function refused(page, context, watched) {
  watched.expects(refusal(503));
  await signIn(page, sandbox.demo.email, sandbox.demo.password);
  await page.route("**/events", (route) => route.fulfill({ status: 503, body: "" }));
  const { transferred } = await order(page);
  const loaded = navigations(page);
  await advanceUntil(state(page, transferred).getByText("umgezogen").waitFor({ timeout: 60_000 }));
  assert.ok(loaded.count > 0, "the stream was refused, and the page not loaded again");
  ok("without a stream the page reloads itself");
}

async function plain(page) {
  await signIn(page, sandbox.demo.email, sandbox.demo.password);
  const { transferred } = await order(page);
  const loaded = navigations(page);
  await heading(page, "Bestellung wird bearbeitet").waitFor();
  await advanceUntil(state(page, transferred).getByText("umgezogen").waitFor({ timeout: 60_000 }));
  assert.ok(loaded.count > 0, "the page changed without script and without being loaded");
  ok("without script the page reloads itself");
}

await withBrowser(live);
await withBrowser(portalLive, { onPhone: true });
await withBrowser(refused, { onPhone: true });
await withBrowser(plain, { javaScriptEnabled: false });
