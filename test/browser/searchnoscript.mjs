// The same pages with script disabled.
import assert from "node:assert/strict";
import { ok, portal, withBrowser } from "./lib.mjs";

async function journey(page) {
  const onPhone = page.viewportSize().width < 500;
  const where = onPhone ? "on a phone" : "at a desk";
  await page.goto(portal("/"));
  await page.locator("#q").fill("kaffeeprobe-ohne-skript");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Ergebnisse für „kaffeeprobe-ohne-skript“" }).waitFor();
  assert.equal(await page.locator(".hit.free").count(), 8);
  assert.ok(!page.url().includes("kaffeeprobe"), "the name is in the address");
  await page.getByRole("button", { name: "8 weitere Endungen prüfen" }).click();
  await page.locator("#hit-8").waitFor();
  assert.equal(await page.locator(".hit").count(), 8);
  await page.goBack();
  await page.locator("#hit-0").waitFor();
  await page.goForward();
  await page.locator("#hit-8").waitFor();
  ok("searched without script " + where);

  await page.locator("#q").fill("google");
  await page.getByRole("button", { name: "Suchen" }).click();
  await page.getByRole("button", { name: "WHOIS von google.com" }).click();
  await page.locator(".whois dl").waitFor();
  await page.getByRole("button", { name: "Zurück zur Suche" }).click();
  await page.getByRole("button", { name: "Ähnliche Namen wie google.com" }).click();
  await page.getByRole("heading", { name: "Ähnliche Namen wie google.com" }).waitFor();
  ok("whois and variants without script " + where);

  await page.goto(portal("/preise"));
  await page.getByLabel("Kategorie").selectOption("country");
  await page.getByLabel("Sortieren nach").selectOption("first");
  await page.getByRole("button", { name: "Anzeigen" }).click();
  await page.waitForURL(/category=country/);
  assert.equal(await page.locator("tbody strong.ext").first().textContent(), ".com.de");
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Als CSV herunterladen" }).click()]);
  assert.equal(file.suggestedFilename(), "dotkontor-prices.csv");
  ok("prices without script " + where);

  await page.goto(portal("/assistent"));
  assert.equal(await page.getByRole("button", { name: /kopieren/ }).count(), 0, "a button that does nothing");
  if (!onPhone) return;
  await page.getByRole("button", { name: "Menü" }).click();
  await page.getByRole("link", { name: "Preise", exact: true }).click();
  await page.waitForURL(/preise/);
  ok("menu without script");
}

await withBrowser(journey, { javaScriptEnabled: false, acceptDownloads: true });
await withBrowser(journey, { javaScriptEnabled: false, acceptDownloads: true, onPhone: true });
