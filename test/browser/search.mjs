// The public pages: the search with script, on a desktop and on a phone; the prices;
// and the settings for assistants.
import assert from "node:assert/strict";
import { ok, portal, refusal, withBrowser } from "./lib.mjs";
import { checkPage, visit } from "./checkpage.mjs";

// A name that the log is also searched for.
const name = "kaffeeprobe-am-see";

// watchAddresses fails if a request's URL or referrer contains a searched name. Fragments
// are not sent.
function watchAddresses(page) {
  const addresses = [];
  page.on("request", (request) => addresses.push(request.url().split("#")[0], request.headers().referer ?? ""));
  return () => assert.ok(!addresses.some((url) => /kaffeeprobe|google/.test(url)), "a searched name is in an address");
}

// places records the positions of the reserved rows, before any answer.
const places = (page) =>
  page.evaluate(() => {
    window.reserved = undefined;
    new MutationObserver(() => {
      const rows = [...document.querySelectorAll(".hit")];
      if (rows.length && !window.reserved) window.reserved = { at: rows.map((row) => row.getBoundingClientRect().top), waiting: rows.filter((row) => row.matches(".waiting")).length };
    }).observe(document.getElementById("results"), { childList: true });
  });

const settled = (page, count) =>
  page.waitForFunction((wanted) => document.querySelectorAll(".hit").length === wanted && !document.querySelector(".hit.waiting") && /\d/.test(document.getElementById("summary").textContent), count);

async function search(page, query) {
  await page.locator("#q").fill(query);
  await page.keyboard.press("Enter");
}

async function journey(page, context, watched) {
  watched.expects(refusal("4(00|04)"));
  const onPhone = page.viewportSize().width < 500;
  const where = onPhone ? "on a phone" : "at a desk";
  const check = watchAddresses(page);

  let weight = 0;
  page.on("response", async (response) => (weight += (await response.body().catch(() => "")).length));
  await visit(page, "/", { name: "start " + where });
  assert.ok(weight > 0 && weight <= 100_000, `the first load weighs ${weight} bytes`);
  assert.equal(await page.evaluate(() => document.activeElement.id), "q", "the field has no focus");

  await places(page);
  await search(page, name);
  await settled(page, 8);
  const { at, waiting } = await page.evaluate(() => window.reserved);
  assert.equal(waiting, 8, "rows were not reserved before they were known");
  const now = await page.evaluate(() => [...document.querySelectorAll(".hit")].map((row) => row.getBoundingClientRect().top));
  assert.deepEqual(now, at, "rows moved");
  ok(`rows do not move ${where}`);
  const orderable = () => page.locator(".hit.free").filter({ hasNotText: "nur Abfrage" }).count();
  const summary = (n, all) => (n === all ? `Alle ${all} sind frei.` : `${n} von ${all} sind frei`);
  assert.ok((await page.locator("#status").textContent()).startsWith(summary(await orderable(), 8)));
  assert.match(await page.locator("#hit-0").textContent(), /frei[\s\S]*8,21\s€[\s\S]*6,90\s€ netto[\s\S]*danach 7,02\s€[\s\S]*5 Jahre: 36,29\s€/);
  await checkPage(page, "results " + where);

  await page.getByRole("button", { name: "8 weitere Endungen prüfen" }).click();
  await settled(page, 16);
  await page.waitForFunction((text) => document.getElementById("summary").textContent.startsWith(text), summary(await orderable(), 16));
  ok(`more extensions ${where}`);

  // Each search has an address; the name is only in its fragment.
  assert.equal(new URL(page.url()).hash, "#q=" + name);
  await search(page, "google");
  await page.locator("#hit-0.taken").waitFor();
  if (!onPhone) {
    // Back and forward move between searches. A phone leaves it out: searches are limited.
    await page.goBack();
    await page.getByRole("heading", { name: `Ergebnisse für „${name}“` }).waitFor();
    assert.equal(await page.locator("#q").inputValue(), name);
    await page.goForward();
    await page.locator("#hit-0.taken").waitFor();
    ok("back and forward move between searches");
  }
  await settled(page, 8);
  await page.getByRole("button", { name: "WHOIS von google.de", exact: true }).click();
  await page.locator("#hit-0 .whois dl").waitFor();
  await checkPage(page, "a taken name with its record " + where);
  await page.getByRole("button", { name: "Ähnliche Namen wie google.de", exact: true }).click();
  await page.getByRole("heading", { name: "Ähnliche Namen wie google.de" }).waitFor();
  await settled(page, 8);
  assert.ok((await page.locator(".hit.free").count()) > 0, "no variant is free");
  ok(`whois and variants ${where}`);

  for (const [query, state, max] of [["gold.com", "premium", ""], ["reserviert.de", "reserved", ""], ["bücher-am-see.de", "free", "10"]]) {
    if (max) {
      await page.locator("#q").fill(query);
      await page.getByLabel("Preis im ersten Jahr").selectOption(max);
    } else {
      await search(page, query);
    }
    await page.locator("#hit-0." + state).waitFor();
    await settled(page, 8);
    if (state !== "free") await checkPage(page, state + " " + where);
    if (state === "premium") {
      const [price, action] = await Promise.all([".hit-price", ".hit-do"].map((part) => page.locator("#hit-0 " + part).boundingBox()));
      assert.ok(action.x >= price.x + price.width && action.y < price.y + price.height, `the button is not beside the price ${where}`);
    }
  }
  for (const price of await page.locator(".hit-price strong").allTextContents()) {
    assert.ok(parseFloat(price.replace(",", ".")) <= 10, `${price} is above the filter`);
  }
  ok(`a filter applies at once ${where}`);
  ok(`states are distinguished ${where}`);

  await search(page, "ein_name");
  await page.locator("#q-problem:not([hidden])").waitFor();
  assert.equal(await page.locator(".hit").count(), 0, "an invalid search leaves rows of another one");
  await checkPage(page, "a name that is none " + where);

  await visit(page, "/preise", { name: "prices " + where });
  await page.getByLabel("Endung").fill("shop");
  await page.locator("tbody tr").nth(2).waitFor({ state: "detached" });
  assert.deepEqual(await page.locator("tbody strong.ext").allTextContents(), [".shop", ".shopping"]);
  assert.match(page.url(), /q=shop/);
  await page.getByLabel("Kategorie").selectOption("place");
  await page.locator(".empty").waitFor();
  await checkPage(page, "prices that fit nothing " + where);
  ok(`prices follow the filter ${where}`);

  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await visit(page, "/assistent", { name: "assistant " + where });
  await page.getByRole("button", { name: "Cursor: kopieren" }).click();
  await page.getByText("Kopiert.").waitFor();
  const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  assert.equal(copied.mcpServers.dotkontor.url, portal("/api/mcp"));
  ok(`settings copied ${where}`);

  await visit(page, "/nirgends", { name: "nowhere " + where, status: 404 });
  await visit(page, "/prices", { name: "prices in English " + where, language: "en" });
  check();
  if (!onPhone) return;
  // The menu opens, and closes again with Escape.
  await page.goto(portal("/"));
  await page.getByRole("button", { name: "Menü" }).click();
  await page.getByRole("link", { name: "Preise", exact: true }).waitFor();
  await checkPage(page, "the menu");
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Preise", exact: true }).waitFor({ state: "hidden" });
  ok("menu on a phone");
}

await withBrowser(journey);
await withBrowser(journey, { onPhone: true });
