// An operator signs in with a second factor, locks a domain, looks up a customer, adds
// an agent and replaces the price list. The operator is the demo customer, so the same
// person sees the registrant's pages.
import assert from "node:assert/strict";
import { at, atOverview, clickButton, field, mails, ok, portal, refusal, sandbox, tool, totp, withBrowser } from "./lib.mjs";
import { checkPage, visit } from "./checkpage.mjs";
import { enter, signIn } from "./accounts.mjs";

const { email, password } = sandbox.demo;
const tabs = ["", "/notices", "/inquiries", "/registry-messages", "/outgoing-transfers", "/disputes", "/orders", "/payments", "/refunds", "/revenue", "/margin", "/jobs", "/health", "/locks", "/terms", "/customers", "/agents", "/prices"];
const domain = "elbblick-roesterei.com";

// note waits for a message: a page that is still loading may have only a part of it.
async function note(page, pattern) {
  await page.locator("[role=status]", { hasText: pattern }).waitFor();
}

// second enables the second factor and signs in with it.
async function second(page) {
  await page.goto(portal("/portal/security/enrol?link=" + sandbox.enrolment));
  await clickButton(page, "Einrichtung beginnen");
  await at(page, "/portal/security");
  await page.goto(portal("/portal/security/second-factor"));
  const secret = (await page.locator(".secret").first().textContent()).trim();
  await field(page, "code").fill(totp(secret));
  await clickButton(page, "Einschalten");
  await page.locator("#codes li").first().waitFor();
  await clickButton(page, "Abmelden");
  await enter(page, email, password);
  await at(page, "/portal/sign-in/code");
  // A code is valid once, and the next one is accepted half a minute early.
  await field(page, "code").fill(totp(secret, Date.now() + 30_000));
  await clickButton(page, "Weiter");
  await atOverview(page);
  return secret;
}

// notices sends a withdrawal without an account and handles it.
async function notices(page) {
  await page.goto(portal("/widerruf"));
  await field(page, "name").fill("Erika Muster");
  await field(page, "email").fill("erika@example.org");
  await field(page, "contract").fill(domain);
  await page.locator("main form button").click();
  await page.goto(portal("/operator"));
  assert.doesNotMatch(await page.locator("main").textContent(), /Nichts zu tun/);
  assert.match(await openOn(page, "notices").textContent(), /1/);
  await checkPage(page, "start page with a withdrawal");
  await page.getByRole("link", { name: "Widerruf", exact: true }).first().click();
  await checkPage(page, "withdrawal");
  await field(page, "note").fill("Vertrag geprüft, Geld erstattet.");
  await clickButton(page, "Erledigt");
  await note(page, /erledigt/);
  await page.locator("td", { hasText: "Vertrag geprüft" }).waitFor();
  assert.equal(await openOn(page, "notices").count(), 0);
  await checkPage(page, "withdrawals and terminations");
  ok("withdrawal is open work until it is handled");
}

// terminations sends a termination without an account and ends the contract of its domain.
async function terminations(page) {
  await page.goto(portal("/kuendigung"));
  await field(page, "name").fill("Erika Muster");
  await field(page, "email").fill(email);
  await field(page, "contract").fill(domain);
  await field(page, "ground").selectOption("ordinary");
  await page.locator("main form button").click();
  await page.goto(portal("/operator/notices"));
  await page.getByRole("link", { name: "Kündigung", exact: true }).first().click();
  await checkPage(page, "termination");
  await page.setViewportSize({ width: 390, height: 844 });
  await checkPage(page, "termination on a phone");
  await page.setViewportSize({ width: 1280, height: 900 });
  await clickButton(page, "Vorschau");
  await checkPage(page, "termination, preview");
  await clickButton(page, "Verträge beenden");
  await note(page, /enden mit ihrer Laufzeit/);
  assert.equal(await openOn(page, "notices").count(), 0);
  ok("termination ends the contract of its domain");
}

// menu opens a group of the menu, one at a time.
async function menu(page) {
  for (const [width, name] of [[390, "phone, menu"], [1280, "menu"]]) {
    await page.setViewportSize({ width, height: 844 });
    await page.goto(portal("/operator"));
    await page.locator(".tabs summary", { hasText: "Geld" }).click();
    await page.locator(".tabs summary", { hasText: "Registry" }).click();
    assert.equal(await page.locator(".tabs details[open]").count(), 1);
    await checkPage(page, name);
    await page.getByRole("link", { name: "Preisliste" }).click();
    await at(page, "/operator/prices");
    assert.equal(await page.locator(".tabs summary.current").textContent().then((text) => text.trim()), "Registry und Technik");
  }
  ok("menu opens one group at a time");
}

// openOn is the number of open cases in the menu's link to a page.
const openOn = (page, path) => page.locator(`.tabs a[href="/operator/${path}"] .count`);

// inquiries sends a message with the contact form and handles it.
async function inquiries(page) {
  for (const path of ["/hilfe", "/kontakt"]) await visit(page, path);
  assert.equal(await field(page, "email").inputValue(), email);
  await field(page, "topic").selectOption("abuse");
  await field(page, "name").fill("Erika Muster");
  await field(page, "message").fill("Guten Tag,\n\nbitte prüfen Sie diese Domain.");
  await clickButton(page, "Nachricht senden");
  await page.getByRole("heading", { level: 1, name: "Ihre Nachricht ist angekommen" }).waitFor();
  await checkPage(page, "message sent");
  const number = await page.locator("main code").textContent();
  const [mail] = await mails(email, 1, /Anfrage/);
  assert.ok(mail.text.includes(number) && !mail.text.includes("bitte prüfen"));
  await page.goto(portal("/operator"));
  assert.match(await openOn(page, "inquiries").textContent(), /1/);
  await page.getByRole("link", { name: "Missbrauch einer Domain", exact: true }).click();
  await checkPage(page, "inquiry");
  await field(page, "note").fill("Domain gesperrt, Absender informiert.");
  await clickButton(page, "Erledigt");
  await page.locator("td", { hasText: "Absender informiert" }).waitFor();
  await checkPage(page, "inquiries");
  ok("message is open work until it is handled");
}

// transfers enters a list with mistakes and orders the rest.
async function transfers(page) {
  await visit(page, "/umzug");
  await field(page, "lines").fill("transfer-liste.com auth-transfer-liste\ntransfer-zweite.com falsch-123\ntee.gibtesnicht x\n");
  await clickButton(page, "Prüfen und zur Kasse");
  await page.locator("main", { hasText: "Domains auf Ihrer Umzugsliste: 1 bereit, 1 zu korrigieren, 1 nicht möglich." }).waitFor();
  assert.ok(!(await page.content()).includes("auth-transfer-liste"), "a code is shown");
  await checkPage(page, "list of transfers with problems");
  await page.setViewportSize({ width: 320, height: 700 });
  await checkPage(page, "list of transfers on a phone");
  await page.setViewportSize({ width: 1280, height: 900 });
  await clickButton(page, "Mit dieser zur Kasse");
  await page.getByText("Der Auth-Code ist hinterlegt.").waitFor();
  await visit(page, "/portal/transfers");
  await page.locator("main", { hasText: "transfer-zweite.com" }).waitFor();
  await checkPage(page, "transfers to correct and to pay");
  ok("good lines of a transfer list are ordered");
}

// orders opens an order from the list, and one by its domain.
async function orders(page) {
  await tool("start_order", { items: [{ domain: "teeladen-am-kai.de", type: "register" }] });
  await page.goto(portal("/operator/orders"));
  await page.getByRole("link", { name: "wartet auf Zahlung", exact: true }).click();
  await page.locator("main a.number").first().click();
  await page.getByRole("heading", { level: 1, name: "Bestellung" }).waitFor();
  assert.doesNotMatch(await page.locator("main").innerText(), /\b(order|epp|renewal)_[a-z]+/);
  await checkPage(page, "order");
  const name = await page.locator("#items + table strong").first().textContent();
  await page.goto(portal("/operator/orders"));
  await field(page, "q").fill(name);
  await clickButton(page, "Suchen");
  await page.locator("main", { hasText: "Bestellungen mit " + name }).waitFor();
  ok("order found by state and by domain");
}

async function locks(page) {
  await page.goto(portal("/operator/locks"));
  await field(page, "domain").fill(domain);
  await field(page, "cause").selectOption("udrp");
  await field(page, "reason").fill("Verfahren D2026-0815 vor der WIPO");
  await clickButton(page, "Sperren");
  assert.match(await page.locator("#blocks-problem").textContent(), /mindestens eine Einschränkung/);
  assert.equal(await field(page, "domain").inputValue(), domain, "what was typed is gone");
  await checkPage(page, "locks with a problem");
  await page.getByLabel("Umzug und Inhaberwechsel").check();
  await page.getByLabel("Verlängerung").check();
  await clickButton(page, "Sperren");
  await note(page, /gesperrt|Sperre gilt/);
  await checkPage(page, "locks");
  const [mail] = await mails(email, 1, /: gesperrt am /);
  assert.match(mail.text ?? mail.body ?? "", /D2026-0815/);
  ok("domain locked and the registrant notified");

  await page.goto(portal("/portal/domains"));
  await page.locator("tr", { hasText: domain }).getByText("derzeit nicht verlängern").waitFor();
  assert.equal(await page.getByRole("button", { name: domain + " verlängern" }).count(), 0, "a locked domain is offered for renewal");
  await page.getByRole("link", { name: domain, exact: true }).click();
  await page.locator("main", { hasText: "Wegen einer Sperre geht das zurzeit nicht." }).waitFor();
  ok("a lock restricts the registrant");

  await page.goto(portal("/operator/locks"));
  await page.getByRole("button", { name: `Sperre auf ${domain} aufheben` }).click();
  await page.getByRole("heading", { level: 1, name: "Diese Sperre aufheben?" }).waitFor();
  await checkPage(page, "lifting a lock");
  await clickButton(page, "Aufheben");
  await note(page, /aufgehoben/);
  ok("lock lifted");
}

async function customers(page) {
  await page.goto(portal("/operator/customers"));
  await field(page, "q").fill("niemand@example.org");
  await clickButton(page, "Konto öffnen");
  await page.locator("[role=alert]").waitFor();
  await field(page, "q").fill(domain);
  await clickButton(page, "Konto öffnen");
  await page.getByRole("heading", { level: 1, name: "Kunde" }).waitFor();
  assert.match(await page.locator("main").textContent(), new RegExp(email));
  await checkPage(page, "customer");
  await page.goto(portal("/portal/activity"));
  await page.locator("td", { hasText: "Kontodaten angesehen" }).first().waitFor();
  ok("an operator's access is in the customer's activity");
}

async function agents(page) {
  await page.goto(portal("/operator/agents"));
  await field(page, "name").fill("Reiseplaner");
  await clickButton(page, "Zulassen");
  const [key] = await page.locator(".secret").allTextContents();
  assert.match(key, /^dotkontor_agent_/);
  await checkPage(page, "agents with secrets");
  await page.getByRole("button", { name: "Neues Geheimnis für Reiseplaner" }).click();
  assert.equal(await page.locator(".secret").count(), 1);
  await page.goto(portal("/operator/agents"));
  assert.ok(!(await page.content()).includes(key), "a key is shown twice");
  await page.getByRole("button", { name: "Reiseplaner entfernen" }).click();
  await page.getByRole("heading", { level: 1, name: "Diesen Agenten entfernen?" }).waitFor();
  await clickButton(page, "Entfernen");
  await note(page, /entfernt/);
  ok("agent added, rotated and removed");
}

async function prices(page) {
  const list = await (await page.context().request.get(portal("/operator/prices/list.csv"))).text();
  const upload = async (text) => {
    await page.goto(portal("/operator/prices"));
    await page.locator("#list").setInputFiles({ name: "liste.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
    await clickButton(page, "Vergleichen");
  };
  await upload(list.replace(/^\.com,.*$/m, ".com,teuer"));
  assert.match(await page.locator("[role=alert]").textContent(), /abgelehnt/);
  await checkPage(page, "price list refused");
  const dearer = list.replace(/^\.com,[\d.]+,/m, ".com,99.90,").replace(/^\.abogado,.*\n/m, "");
  await upload(dearer);
  assert.match(await page.locator("#diff + p").textContent(), /Neue Endungen: 0. Wegfallende: 1. Geänderte Werte: 1./);
  await checkPage(page, "price list compared");
  await field(page, "confirmed").check(); // .com rises by more than the factor, and .abogado is removed
  await clickButton(page, "Diese Liste in Kraft setzen");
  await note(page, /gilt/);
  assert.equal(await (await page.context().request.get(portal("/operator/prices/list.csv"))).text(), dearer);
  ok("price list compared, then applied");
}

await withBrowser(async (page, context, watched) => {
  watched.expects(refusal("4(03|04|09|22)"));
  assert.equal((await page.goto(portal("/operator"))).status(), 404);
  ok("hidden from anonymous visitors");
  await signIn(page, email, password);
  await visit(page, "/operator", { status: 403, name: "a password is not enough" });
  ok("a password is not enough");
  await second(page);
  await page.getByRole("link", { name: "Betrieb" }).click();
  await at(page, "/operator");
  for (const tab of tabs) await visit(page, "/operator" + tab);
  await page.setViewportSize({ width: 390, height: 844 });
  for (const tab of tabs) await visit(page, "/operator" + tab, { name: "phone" + tab });
  await page.setViewportSize({ width: 1280, height: 900 });
  await menu(page);
  await notices(page);
  await terminations(page);
  await inquiries(page);
  await transfers(page);
  await orders(page);
  await locks(page);
  await customers(page);
  await agents(page);
  await prices(page);
});
