// A registrant renews a domain with script disabled, and finds the order again.
import assert from "node:assert/strict";
import { at, clickButton, ok, portal, sandbox, withBrowser } from "./lib.mjs";
import { signIn } from "./accounts.mjs";

const year = (text) => Number(/(\d{2})\.(\d{2})\.(\d{4})/.exec(text)[3]);

await withBrowser(async (page, context, watched) => {
  watched.allows(new URL(sandbox.provider).host);
  await signIn(page, sandbox.demo.email, sandbox.demo.password);
  await page.goto(portal("/portal/domains"));
  const row = page.locator("tr", { has: page.getByRole("button", { name: / verlängern$/ }) }).first();
  const name = (await row.locator("strong").textContent()).trim();
  const before = year(await row.textContent());
  await row.getByRole("button", { name: name + " verlängern" }).click();
  await page.getByRole("heading", { level: 1, name: "Bestellung prüfen und bezahlen" }).waitFor();
  assert.match(new URL(page.url()).pathname, /^\/checkout\/dotkontor_pay_/);
  assert.match(await page.locator("main").textContent(), /Verlängerung, 1 Jahr/);
  const order = page.url();

  // Further renewals join the order, chosen in the list. Other journeys of the same customer
  // may have changed its order meanwhile.
  await page.goto(portal("/portal/domains"));
  const others = page.locator("tr", { has: page.getByRole("button", { name: / verlängern$/ }), hasNotText: name });
  for (const row of (await others.all()).slice(0, 2)) await row.getByRole("checkbox").check();
  await page.getByLabel("Mit den ausgewählten Domains:").selectOption("renew");
  await clickButton(page, "Weiter");
  await page.waitForURL(order);
  assert.equal(await page.getByText("Verlängerung, 1 Jahr").count(), 3, "the order has not all renewals: " + (await page.locator("main").innerText()));
  await page.getByRole("button", { name: /aus der Bestellung entfernen$/ }).last().click();
  await page.getByText("Die Domain ist aus der Bestellung entfernt.").waitFor();
  assert.equal(await page.getByText("Verlängerung, 1 Jahr").count(), 2);
  ok("renewals share one order");
  await clickButton(page, "Zahlungspflichtig bestellen");
  await page.getByRole("button", { name: /gespeicherter Karte •••• 4242/ }).first().click(); // another journey may just have replaced it
  await page.getByRole("heading", { level: 1, name: "Bestellung abgeschlossen" }).waitFor({ timeout: 60_000 });
  ok("renewed and paid without script");
  await page.goto(portal("/portal/domains"));
  const after = page.locator("tr", { hasText: name });
  assert.equal(year(await after.textContent()), before + 1, "the paid term did not move");
  ok("the paid term is a year longer");

  // Off in the list, on with the consent.
  const renewing = page.locator("tr", { has: page.getByRole("button", { name: /^Automatische Verlängerung von/ }) }).first();
  const its = (await renewing.locator("strong").textContent()).trim();
  await renewing.getByRole("button", { name: /^Automatische Verlängerung von/ }).click();
  await at(page, "/portal/domains");
  await page.getByText("Die automatische Verlängerung ist ausgeschaltet.").waitFor();
  await page.getByRole("link", { name: its + " automatisch verlängern" }).click();
  await page.locator("#agree").check();
  await clickButton(page, "Automatische Verlängerung einschalten");
  await page.getByText("Die automatische Verlängerung ist eingeschaltet.").waitFor();
  ok("automatic renewal switched both ways");

  await page.getByRole("link", { name: "Bestellungen", exact: true }).click();
  await at(page, "/portal/orders");
  await page.getByRole("link", { name: new RegExp("^" + name.replaceAll(".", "\\.")) }).first().click();
  await page.getByText("Gesamtbetrag").first().waitFor(); // a link's page is read while it arrives
  assert.match(await page.locator("main").textContent(), /abgeschlossen.*von Ihnen.*Gesamtbetrag/s);
  ok("the order is found again in the portal");
}, { javaScriptEnabled: false });
