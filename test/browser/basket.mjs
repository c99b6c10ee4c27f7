// A customer without an agent or an account: search, basket, account, registrant, auth
// code, payment and domains. Then the same basket without script, and withdrawal and
// termination without signing in.
import assert from "node:assert/strict";
import { at, atOverview, clickButton, field, linkIn, mails, ok, portal, refusal, sandbox, withBrowser } from "./lib.mjs";
import { checkPage, visit } from "./checkpage.mjs";
import { address } from "./accounts.mjs";

const name = "korb-" + Date.now().toString(36);
const password = "ein langes Passwort 7";
const button = (page, text) => page.getByRole("button", { name: text, exact: true });
const found = (page) => page.waitForFunction(() => /\d/.test(document.getElementById("summary")?.textContent ?? ""));

async function purchase(page, context, watched) {
  watched.expects(refusal(422), refusal(401)); // an invalid form, and a check after the session was lost
  watched.allows(new URL(sandbox.provider).host);
  await page.goto(portal("/"));
  await page.locator("#q").fill(name);
  await page.keyboard.press("Enter");
  await found(page);
  for (const row of ["#hit-0", "#hit-1"]) {
    const height = await page.locator(row).evaluate((hit) => hit.getBoundingClientRect().height);
    await page.locator(row + " [data-basket] button").click();
    await page.locator(row + " a.button").waitFor();
    assert.equal(await page.locator(row).evaluate((hit) => hit.getBoundingClientRect().height), height, "the row changed its height");
  }
  assert.equal(await page.locator("[data-count]").textContent(), "2");
  await checkPage(page, "results with a basket");
  ok("names are added to the basket during search");
  await countIsRight(page, context);

  await page.locator("a.basket").click();
  await at(page, "/warenkorb");
  await field(page, "domain").fill("kein name");
  await clickButton(page, "Umzug in den Warenkorb");
  assert.match(await page.locator("#domain-problem").textContent(), /kann nicht umziehen/);
  await field(page, "domain").fill(sandbox.transfer.name);
  await clickButton(page, "Umzug in den Warenkorb");
  await at(page, "/warenkorb");
  assert.equal(await page.locator("main tbody tr").count(), 3);
  const term = page.getByLabel("Laufzeit von " + name + ".com");
  await term.selectOption("2");
  await page.waitForURL(/#years-/);
  assert.equal(await term.inputValue(), "2");
  await term.selectOption("1");
  await page.waitForFunction(() => !document.body.textContent.includes("25,80"));
  await checkPage(page, "a basket");
  ok("a term applies as soon as it is chosen");

  const email = address("korb");
  await field(page, "email").fill(email);
  await clickButton(page, "Weiter zur Kasse");
  await at(page, "/portal/register/sent");
  await page.goto(await linkIn(email, "/portal/confirm"));
  await clickButton(page, "Adresse bestätigen und zur Kasse");
  await page.waitForURL(/\/checkout\//);
  ok("a new account leads to the checkout");
  const pay = new URL(page.url()).pathname;
  assert.equal(await page.locator("[data-count]").isVisible(), false, "the basket is not empty");
  await field(page, "name").fill("Erika Mustermann");
  await field(page, "postal_code").fill("123");
  await field(page, "street").fill("Heidestraße 17");
  await page.locator("#postal_code-problem").waitFor();
  assert.equal(await page.locator("#name-problem").count(), 0, "a good field is blamed");
  assert.equal(await page.locator("#city-problem").count(), 0, "an untouched field has an error");
  await checkPage(page, "a holder while typing");
  await field(page, "postal_code").fill("51147");
  await field(page, "city").fill("Köln");
  await page.locator("#postal_code-problem").waitFor({ state: "detached" });
  await field(page, "phone").fill("+49 221 123456");
  ok("registrant data is validated while typing");
  const session = await context.cookies();
  await context.clearCookies();
  await clickButton(page, "Angaben speichern");
  await at(page, "/portal/sign-in");
  assert.match(await page.locator("main").textContent(), /Ihre Sitzung ist beendet. Es wurde nichts bestellt und nichts abgebucht..*Passwort noch nicht festgelegt oder vergessen\?/s);
  await checkPage(page, "a sign-in after the session was lost");
  await context.addCookies(session);
  await page.goto(portal(pay));
  assert.equal(await field(page, "street").inputValue(), "Heidestraße 17");
  await page.goto(portal("/warenkorb"));
  assert.equal(await page.evaluate(() => sessionStorage.length), 0, "the tab still stores what was typed");
  await page.evaluate((path) => {
    sessionStorage.setItem("sent", JSON.stringify({ path, who: "someone@example.org", at: Date.now(), values: { street: "Nebenstraße 1" } }));
  }, pay);
  await page.goto(portal(pay));
  assert.equal(await field(page, "street").inputValue(), "", "another customer's data is filled in");
  for (const [name, value] of [["name", "Erika Mustermann"], ["street", "Heidestraße 17"], ["postal_code", "51147"], ["city", "Köln"], ["phone", "+49 221 123456"]]) {
    await field(page, name).fill(value);
  }
  ok("a lost session is named at sign-in, and keeps what was typed");
  await clickButton(page, "Angaben speichern");
  await page.locator("#street").waitFor({ state: "detached" });
  await field(page, "code").fill(sandbox.transfer.code);
  await clickButton(page, "Auth-Code speichern");
  await at(page, pay);
  await checkPage(page, "ready to be paid");
  await withoutConsent(page, pay);
  await page.locator("#consent").check();
  await clickButton(page, "Zahlungspflichtig bestellen");
  await page.waitForURL(sandbox.provider + "/**");
  await page.locator("#cardNumber").fill("4242424242424242");
  // Updates are held back until the customer has opened a section.
  const words = page.locator("main dl details");
  const reading = Promise.withResolvers();
  await page.route("**" + pay + "/events", (route) => reading.promise.then(() => route.continue()));
  await page.locator("#pay").click();
  await at(page, pay);
  await words.locator("summary").click();
  reading.resolve();
  await page.waitForFunction(() => [...document.querySelectorAll("main tbody tr")].filter((row) => /registriert/.test(row.textContent)).length === 2, undefined, {
    timeout: 60_000,
  });
  assert.match(await page.locator("main tbody").textContent(), /Umzug läuft|umgezogen/);
  ok("registered and transferred in one order");
  assert.equal(await words.getAttribute("open"), "", "an update closed an open section");
  assert.match(await page.locator("[aria-labelledby=about] dl").textContent(), /Sofortiger Beginn.*Ich verlange ausdrücklich/s);
  const [receipt] = await mails(email, 1, /Ihre Bestellung/);
  assert.match(receipt.text.replace(/\s+/g, " "), /haben am .* erklärt: Ich verlange ausdrücklich, dass Sie sofort/);
  ok("the consent is shown with the order, and confirmed by mail");
  await visit(page, "/portal/profile/close", { name: "an account that can't be closed" });
  assert.equal(await page.locator("#sure").count(), 0);
  ok("an account with domains cannot be closed");
}

// The number in the header is right after quick clicks and after a change in another tab.
async function countIsRight(page, context) {
  const count = page.locator("[data-count]");
  await page.evaluate(() => {
    for (const row of ["#hit-2", "#hit-3"]) document.querySelector(row + " [data-basket] button").click();
  });
  for (const row of ["#hit-2", "#hit-3"]) await page.locator(row + " a.button").waitFor();
  assert.equal(await count.textContent(), "4");
  const other = await context.newPage();
  await other.goto(portal("/warenkorb"));
  for (const left of [3, 2]) {
    await other.locator("main tbody tr").nth(2).getByRole("button").click();
    await other.waitForFunction((rows) => document.querySelectorAll("main tbody tr").length === rows, left);
    assert.equal(await other.locator("[data-count]").textContent(), String(left));
  }
  await other.close();
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await page.waitForFunction(() => document.querySelector("[data-count]").textContent === "2");
  ok("the header counts the basket after quick clicks, and after a change in another tab");
}

// A consumer must request performance before the withdrawal period ends; the box is
// never ticked in advance, and the server enforces it even if a browser does not.
async function withoutConsent(page, pay) {
  const box = page.locator("#consent");
  assert.equal(await box.isChecked(), false, "the consent is ticked for the human");
  await clickButton(page, "Zahlungspflichtig bestellen");
  assert.equal(new URL(page.url()).pathname, pay, "the browser does not ask for the consent");
  await page.locator("form.pay").evaluate((form) => (form.noValidate = true));
  await page.locator("#auto_renew").check();
  await clickButton(page, "Zahlungspflichtig bestellen");
  await page.locator("#consent-problem").waitFor();
  assert.equal(await box.evaluate((element) => element === document.activeElement), true, "the focus is elsewhere");
  assert.equal(await box.isChecked(), false, "the consent comes back ticked");
  assert.equal(await page.locator("#auto_renew").isChecked(), true, "what was chosen is forgotten");
  await checkPage(page, "an order without consent");
  await page.locator("#auto_renew").uncheck();
  ok("a consumer cannot order without the consent");
}

async function withoutScript(page, context, watched) {
  await page.goto(portal("/"));
  await page.locator("#q").fill(name + "-x");
  await page.locator(".search button").click();
  await page.locator("#hit-0 [data-basket] button").click();
  await at(page, "/warenkorb");
  assert.equal(await page.locator("main tbody tr").count(), 1);
  await button(page, "Menü").click();
  await button(page, "English").click();
  await at(page, "/warenkorb");
  assert.match(await page.locator("h1").textContent(), /Basket/);
  await page.locator("main tbody button").click();
  await page.locator("main .empty").waitFor();
  ok("a basket works without script, and in English");
}

async function law(page, context, watched) {
  watched.expects(refusal(422));
  for (const path of ["/impressum", "/agb", "/datenschutz", "/widerruf", "/kuendigung"]) await visit(page, path);
  await page.goto(portal("/"));
  for (const link of ["Vertrag widerrufen", "Verträge hier kündigen"]) assert.ok(await page.locator("footer").getByRole("link", { name: link }).isVisible());
  const email = address("widerruf");
  await page.locator("footer").getByRole("link", { name: "Vertrag widerrufen" }).click();
  await field(page, "name").fill("Erika Mustermann");
  await field(page, "contract").fill("kaffee.de");
  await field(page, "email").fill(email);
  await clickButton(page, "Widerruf bestätigen");
  await page.getByRole("heading", { level: 1, name: "Ihr Widerruf ist eingegangen" }).waitFor();
  await checkPage(page, "a withdrawal that came in");
  const number = (await page.locator("main code").textContent()).trim();
  const [mail] = await mails(email, 1, /Widerruf/);
  assert.ok(mail.text.includes(number) && mail.text.includes("kaffee[.]de"), mail.text);
  ok("withdrawn without signing in, and confirmed by mail");
  await page.locator("footer").getByRole("link", { name: "Verträge hier kündigen" }).click();
  await field(page, "name").fill("Erika Mustermann");
  await field(page, "contract").fill("kaffee.de");
  await field(page, "email").fill(email);
  await field(page, "ground").selectOption("extraordinary");
  await clickButton(page, "Jetzt kündigen");
  await page.locator("#reason-problem").waitFor();
  await checkPage(page, "a termination that lacks its reason");
  await field(page, "reason").fill("Umzug");
  await clickButton(page, "Jetzt kündigen");
  await page.getByRole("heading", { level: 1, name: "Ihre Kündigung ist eingegangen" }).waitFor();
  await mails(email, 1, /Kündigung/);
  ok("terminated without signing in, and confirmed by mail");
}

async function closing(page) {
  const email = address("geht");
  await page.goto(portal("/portal/register"));
  await field(page, "email").fill(email);
  await clickButton(page, "Link anfordern");
  await page.goto(await linkIn(email, "/portal/confirm"));
  await field(page, "password").fill(password);
  await clickButton(page, "Konto anlegen und anmelden");
  await atOverview(page);
  await page.goto(portal("/portal/profile"));
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Daten herunterladen" }).click()]);
  assert.match(file.suggestedFilename(), /^dotkontor-.*\.json$/);
  await visit(page, "/portal/profile/close");
  await page.locator("#sure").check();
  await clickButton(page, "Konto endgültig schließen");
  await page.getByRole("heading", { level: 1, name: "Ihr Konto ist geschlossen" }).waitFor();
  await mails(email, 1, /geschlossen/);
  ok("data exported, account closed");
}

await withBrowser(purchase);
await withBrowser(withoutScript, { onPhone: true, javaScriptEnabled: false });
await withBrowser(law, { onPhone: true });
await withBrowser(closing);
