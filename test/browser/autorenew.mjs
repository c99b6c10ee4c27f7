// A customer adds a card without buying, turns automatic renewal on and off, and lets a
// domain expire.
import assert from "node:assert/strict";
import { at, clickButton, linkIn, mails, ok, portal, refusal, sandbox, tool, withBrowser } from "./lib.mjs";
import { checkPage, visit } from "./checkpage.mjs";
import { signIn } from "./accounts.mjs";

const renewing = "kaffeehaus-elbblick.de";
const undecided = "elbblick-roesterei.com";

// openDomain opens a domain's page from the list and returns its path.
async function openDomain(page, name) {
  await page.goto(portal("/portal/domains?q=" + name));
  await page.getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
  return new URL(page.url()).pathname;
}

const termEnd = (page) => page.locator("section", { has: page.getByRole("heading", { name: "Ende der Laufzeit" }) });

await withBrowser(async (page, context, watched) => {
  watched.allows(new URL(sandbox.provider).host);
  watched.expects(refusal("4(02|09)")); // a declined card, and a form without its tick
  await signIn(page, sandbox.demo.email, sandbox.demo.password);

  // The demo customer's choices are shown as they are.
  await visit(page, "/portal/domains", { name: "domains with their ends of term" });
  const list = await page.locator("main").textContent();
  assert.match(list, /Verlängert sich automatisch/);
  assert.match(list, /aus, wie gewünscht/);
  assert.match(list, /wenn Sie nicht verlängern/);
  await openDomain(page, renewing);
  assert.match(await termEnd(page).textContent(), /Verlängert sich automatisch; Abbuchung am .*Visa •••• 4242/s);
  await checkPage(page, "a domain that renews");
  ok("each domain says what happens at the end of its term");

  // Removing the payment method names and ends what depends on it.
  await visit(page, "/portal/payment-methods", { name: "payment method" });
  assert.match(await page.locator("main").textContent(), new RegExp("Damit endet.*" + renewing.replaceAll(".", "\\."), "s"));
  await clickButton(page, "Zahlungsmittel entfernen");
  await page.getByText("Das Zahlungsmittel ist entfernt.").waitFor();
  await checkPage(page, "no payment method");
  await openDomain(page, renewing);
  assert.match(await termEnd(page).textContent(), /Endet am/);
  ok("a removed payment method ends automatic renewal");

  // Without a card the offer leads to the provider and back.
  const path = await openDomain(page, undecided);
  await termEnd(page).getByRole("link", { name: "Automatisch verlängern …" }).click();
  await at(page, path + "/auto-renew");
  await checkPage(page, "offer without a payment method");
  await clickButton(page, "Zahlungsmittel hinzufügen");
  await page.waitForURL(sandbox.provider + "/**");
  await page.locator("#cardNumber").fill("4000000000000002");
  await page.locator("#pay").click();
  await page.locator("[role=alert]").waitFor();
  await page.locator("#cardNumber").fill("5555555555554444");
  await page.locator("#pay").click();
  await at(page, path + "/auto-renew");
  await page.getByText("Das Zahlungsmittel ist gespeichert.").waitFor();
  ok("a card is added without buying");

  const agree = page.locator("#agree");
  assert.equal(await agree.isChecked(), false, "the consent is ticked for the human");
  assert.match(await page.locator("main").textContent(), /Erste Abbuchung.*Mastercard •••• 4444/s);
  await checkPage(page, "offer");
  await page.locator("main form").evaluate((form) => (form.noValidate = true));
  await clickButton(page, "Automatische Verlängerung einschalten");
  await page.locator("[role=alert]").waitFor();
  await agree.check();
  await clickButton(page, "Automatische Verlängerung einschalten");
  await at(page, path);
  await page.getByText("Die automatische Verlängerung ist eingeschaltet.").waitFor();
  await checkPage(page, "automatic renewal on");
  const [confirmation] = await mails(sandbox.demo.email, 1, new RegExp("^" + undecided + " verlängert sich automatisch"));
  assert.match(confirmation.text, /Mastercard •••• 4444[\s\S]*einverstanden/);
  ok("automatic renewal is on, confirmed by mail");

  // Further cards, another default, and the removal of the default.
  const methods = () => page.locator("main tbody").textContent();
  for (const number of ["4242424242424242", "4242424242424242", "4000000000000341"]) {
    await page.goto(portal("/portal/payment-methods"));
    await clickButton(page, "Zahlungsmittel hinzufügen");
    await page.waitForURL(sandbox.provider + "/**");
    await page.locator("#cardNumber").fill(number);
    await page.locator("#pay").click();
    await at(page, "/portal/payment-methods");
    await page.getByText("Das Zahlungsmittel ist gespeichert.").waitFor();
  }
  assert.equal(await page.locator("main tbody tr").count(), 3, "a card that was entered twice is listed twice");
  assert.match(await methods(), /Mastercard •••• 4444 Standard/);
  await checkPage(page, "several payment methods");
  await page.getByRole("button", { name: /^Visa •••• 4242 .*als Standard festlegen$/ }).click();
  await page.getByText("Der neue Standard ist gespeichert.").waitFor();
  assert.match(await methods(), /Visa •••• 4242 Standard/);
  await openDomain(page, undecided);
  assert.match(await termEnd(page).textContent(), /Verlängert sich automatisch.*Visa •••• 4242/s);
  await page.goto(portal("/portal/payment-methods"));
  await page.getByLabel("Neuer Standard").selectOption({ index: 2 });
  await clickButton(page, "Zahlungsmittel entfernen");
  await page.getByText("Das Zahlungsmittel ist entfernt.").waitFor();
  assert.doesNotMatch(await methods(), /4242/);
  assert.equal(await page.locator("main tbody tr").count(), 2);
  const [moved] = await mails(sandbox.demo.email, 1, /^Ihr Standard-Zahlungsmittel wurde geändert/);
  assert.match(moved.text, /Visa •••• 4242[\s\S]*auch bereits angekündigte/);
  await openDomain(page, undecided);
  assert.match(await termEnd(page).textContent(), /Verlängert sich automatisch/);
  ok("another default, and automatic renewal goes on with it");

  // An agent turns it off; on is a link for the human.
  const off = await tool("set_auto_renew", { domain: undecided, enabled: false });
  assert.equal(off.autoRenew, false);
  await mails(sandbox.demo.email, 1, new RegExp("^" + undecided + " endet am"));
  const again = await tool("set_auto_renew", { domain: undecided, enabled: true });
  assert.equal(again.autoRenew, false);
  await page.goto(again.consent_url);
  await page.locator("#agree").check();
  await clickButton(page, "Automatische Verlängerung einschalten");
  await at(page, path);
  const { domains } = await tool("list_my_domains", { search: undecided });
  assert.equal(domains[0].autoRenew, true);
  ok("an agent turns it off, and on only with the customer");

  await clickButton(page, "Automatische Verlängerung ausschalten");
  await page.getByText("Die automatische Verlängerung ist ausgeschaltet.").waitFor();
  const undo = await linkIn(sandbox.demo.email, path + "/auto-renew");
  assert.equal(new URL(undo).pathname, path + "/auto-renew");
  ok("turned off at once, with a link to undo it");

  await page.getByText("Auslaufen lassen", { exact: true }).click();
  await checkPage(page, "let it expire");
  await clickButton(page, "Domain auslaufen lassen");
  await page.getByText("Die Domain läuft aus, wie gewünscht.").waitFor();
  assert.match(await termEnd(page).textContent(), /aus, wie gewünscht/);
  await checkPage(page, "left to expire");
  await clickButton(page, "Entscheidung zurücknehmen");
  assert.match(await termEnd(page).textContent(), /wenn Sie nicht verlängern/);
  ok("left to expire, and taken back");
});

// The same pages in English, on a phone.
await withBrowser(
  async (page) => {
    await signIn(page, sandbox.demo.email, sandbox.demo.password);
    const path = await openDomain(page, undecided);
    for (const language of ["de", "en"]) {
      if (language === "en") {
        await page.goto(portal("/portal/profile"));
        await page.locator("main select#language").selectOption("en");
        await clickButton(page, "Sprache speichern");
        await page.locator("html[lang=en]").waitFor();
      }
      for (const [name, where] of Object.entries({
        "domains": "/portal/domains", "domain": path, "offer": path + "/auto-renew", "payment method": "/portal/payment-methods",
      })) {
        await visit(page, where, { name: `${name} on a phone, ${language}`, language });
      }
    }
    await page.goto(portal("/portal/profile"));
    await page.locator("main select#language").selectOption("de");
    await clickButton(page, "Save language");
    ok("readable on a phone in both languages");
  },
  { onPhone: true },
);
await withBrowser(async (page) => {
  await visit(page, "/preise", { name: "prices with restore" });
  await visit(page, "/prices", { name: "prices in English", language: "en" });
  ok("prices of renewal, late renewal and restore");
});
