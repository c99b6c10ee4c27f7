// A complete purchase with Tab, Space and Enter alone, in English: from the start page
// to a registered domain. The focus is always visible, moves down the page and is never
// trapped.
import assert from "node:assert/strict";
import { at, linkIn, ok, portal, refusal, sandbox, withBrowser } from "./lib.mjs";
import { address } from "./accounts.mjs";

const name = "tasten-" + Date.now().toString(36);
const furthest = 60; // focusable elements on a page

const aLine = 48; // pixels: elements of one row may differ in height

// focused describes the focused element as the person sees it.
const focused = (page) =>
  page.evaluate(() => {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const around = element.closest(".search-box");
    const box = element.getBoundingClientRect();
    const name = element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent ?? "";
    return {
      name: name.replace(/\s+/g, " ").trim(),
      kind: element.tagName,
      field: element.name ?? "",
      outlined: (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2) || (around !== null && getComputedStyle(around).boxShadow !== "none"),
      shown: box.width > 0 && box.right > 0 && box.bottom > 0 && box.top < innerHeight && box.left < innerWidth,
      top: box.top + scrollY,
      inMain: element.closest("main") !== null,
    };
  });

// tabTo presses Tab until the wanted element has the focus.
async function tabTo(page, what, fits) {
  const passed = [];
  for (let step = 0; step < furthest; step++) {
    await page.keyboard.press("Tab");
    const here = await focused(page);
    if (!here) continue; // the browser's own toolbar
    assert.ok(here.shown && here.outlined, `the focus can't be seen on ${here.kind} "${here.name}" at ${page.url()}`);
    const before = passed.at(-1);
    assert.ok(!before || before.kind !== here.kind || before.name !== here.name || before.top !== here.top, `"${here.name}" holds the focus`);
    if (before?.inMain && here.inMain) assert.ok(here.top > before.top - aLine, `the focus jumps up from "${before.name}" to "${here.name}"`);
    passed.push(here);
    if (fits(here)) return here;
  }
  assert.fail(`Tab does not come to ${what}: ${passed.map((element) => element.name).join(" | ")}`);
}

const toName = (page, pattern) => tabTo(page, String(pattern), (here) => pattern.test(here.name));
const toField = (page, field) => tabTo(page, "the field " + field, (here) => here.field === field);
const type = async (page, field, text) => {
  await toField(page, field);
  await page.keyboard.type(text);
};

async function purchase(page, context, watched) {
  watched.allows(new URL(sandbox.provider).host);
  await page.goto(portal("/"));
  await page.keyboard.press("Shift+Tab"); // the field has the focus from the start
  await toName(page, /^English$/);
  await page.keyboard.press("Enter");
  await page.locator("html[lang=en]").waitFor();
  ok("the language is chosen by keyboard");

  assert.equal((await focused(page)).field, "q", "people can not type at once");
  await page.keyboard.type(name);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => /\d/.test(document.getElementById("summary")?.textContent ?? ""));
  const row = await toName(page, new RegExp(`${name}\\.de`));
  assert.equal(row.kind, "BUTTON");
  await page.keyboard.press("Enter");
  await page.locator("#hit-0 a.button").waitFor();
  await page.waitForFunction(() => document.activeElement.matches("#hit-0 a.button"));
  ok("a name is added by keyboard, and the focus stays in its row");

  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname !== "/");
  const email = address("tasten");
  if ((await focused(page))?.field !== "email") await toField(page, "email");
  await page.keyboard.type(email);
  await page.keyboard.press("Enter");
  await at(page, "/portal/register/sent");
  await page.goto(await linkIn(email, "/portal/confirm"));
  await toName(page, /^Confirm address and check out$/);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/checkout\//);
  const pay = new URL(page.url()).pathname;
  ok("an account is created by keyboard, and leads to the checkout");

  await type(page, "name", "Erika Mustermann");
  await type(page, "street", "Heidestraße 17");
  await type(page, "postal_code", "51147");
  await type(page, "city", "Köln");
  await type(page, "phone", "+49 221 123456");
  await toField(page, "consent");
  await page.keyboard.press("Space");
  await toName(page, /^Order with obligation to pay$/);
  await page.keyboard.press("Enter");
  await page.waitForURL(sandbox.provider + "/**");
  ok("registrant data and order are submitted by keyboard");

  await page.locator("#cardNumber").focus(); // the provider's page is not ours
  await page.keyboard.type("4242424242424242");
  await page.keyboard.press("Enter");
  await at(page, pay);
  await page.waitForFunction(() => /registered/.test(document.querySelector("main tbody tr")?.textContent ?? ""), undefined, { timeout: 60_000 });
  ok("a domain is bought by keyboard alone, in English");
}

// An update that replaces the pressed button must not lose the focus position.
async function search(page, context, watched) {
  watched.expects(refusal(400));
  const ended = () => page.waitForFunction(() => /\d/.test(document.getElementById("summary")?.textContent ?? ""));
  await page.goto(portal("/"));
  await page.keyboard.type("a_b");
  await page.keyboard.press("Enter");
  await page.locator("#q-problem:not([hidden])").waitFor();
  assert.equal(await page.locator("#q").getAttribute("aria-invalid"), "true", "the field is not said to be wrong");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("google");
  await page.keyboard.press("Enter");
  await ended();
  await toName(page, /weitere Endungen/);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.id === "hit-8");
  await page.waitForFunction(() => !document.querySelector("#hits > .waiting"));
  assert.equal(await page.evaluate(() => document.activeElement.id), "hit-8", "the focus went away with its row");
  await page.locator("#q").focus();
  await toName(page, /^Ähnliche Namen wie/);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.id === "results-title");
  await ended();
  await toName(page, /google/);
  ok("the focus stays at the current position");
}

await withBrowser(purchase);
await withBrowser(search);
