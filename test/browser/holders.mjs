// An agency registers domains for itself and two clients in one order, gives one of them to
// another holder, and corrects the address of a client.
import assert from "node:assert/strict";
import { at, clickButton, field, mails, ok, portal, sandbox, tool, withBrowser } from "./lib.mjs";
import { checkPage, visit } from "./checkpage.mjs";
import { signIn } from "./accounts.mjs";

const clients = [
  { kind: "company", name: "Max Teufel", organisation: "Teeladen GmbH", postal_code: "1010", city: "Wien", country: "AT", phone: "+43 1 5123456", email: "max@teeladen.example" },
  { kind: "person", name: "Eva Blum", postal_code: "24103", city: "Kiel", country: "DE", phone: "0431 123456", email: "eva@blum.example" },
];
const [own, tea, flowers] = ["agentur-elbblick.de", "teeladen-wien.com", "blumen-kiel.org"];

// publicCountry returns the registrant's country in our RDAP service.
async function publicCountry(name) {
  const answer = await fetch(portal("/rdap/domain/" + name));
  assert.equal(answer.status, 200, name);
  const text = await answer.text();
  for (const { name, organisation, email } of clients) {
    for (const secret of [name, organisation, email]) assert.ok(!secret || !text.includes(secret), `RDAP publishes ${secret}`);
  }
  const registrant = JSON.parse(text).entities.find((entity) => entity.roles.includes("registrant"));
  return registrant.vcardArray[1].find(([property]) => property === "adr")[1].cc;
}

await withBrowser(async (page, context, watched) => {
  watched.allows(new URL(sandbox.provider).host);
  await signIn(page, sandbox.demo.email, sandbox.demo.password);
  await visit(page, "/portal/holders", { name: "own data as the only holder" });
  for (const client of clients) {
    await page.getByRole("link", { name: "Inhaber hinzufügen" }).click();
    await at(page, "/portal/holders/new");
    for (const [name, value] of Object.entries({ street: "Am Markt 1", ...client })) {
      if (name === "kind" || name === "country") await field(page, name).selectOption(value);
      else await field(page, name).fill(value);
    }
    await checkPage(page, "a new holder");
    await clickButton(page, "Hinzufügen");
    await at(page, "/portal/holders");
  }
  await checkPage(page, "holders");
  const { holders } = await tool("list_holders", {});
  assert.deepEqual(holders.slice(1).map(({ name }) => name), clients.map(({ name }) => name));
  assert.ok(!JSON.stringify(holders).includes("@"), "an agent reads no addresses");
  ok("an agency adds clients as holders");

  const [, company, person] = holders;
  const order = await tool("start_order", { items: [
    { domain: own, type: "register" }, { domain: tea, type: "register", holderId: company.id }, { domain: flowers, type: "register" },
  ] });
  await page.goto(order.payment_url);
  await page.getByLabel(flowers).selectOption(person.id);
  await clickButton(page, "Übernehmen");
  await page.getByText("Die Inhaber sind gespeichert.").waitFor();
  assert.match(await page.locator("main").textContent(), /Inhaber: Teeladen GmbH.*Inhaber: Eva Blum/s);
  await checkPage(page, "an order for several holders");
  await clickButton(page, "Zahlungspflichtig bestellen");
  await page.waitForURL((url) => url.origin === new URL(sandbox.provider).origin);
  await page.locator("#cardNumber").fill("4242424242424242");
  await page.locator("#pay").click();
  await page.getByRole("heading", { level: 1, name: "Bestellung abgeschlossen" }).waitFor({ timeout: 60_000 });
  assert.deepEqual(await Promise.all([own, tea, flowers].map(publicCountry)), ["DE", "AT", "DE"]);
  ok("one order registers domains for three holders");

  await page.goto(portal("/portal/domains?q=" + tea));
  await page.getByRole("link", { name: tea, exact: true }).click();
  await page.locator("#new-holder").selectOption(person.id);
  await clickButton(page, "Inhaber ändern");
  await page.getByRole("heading", { level: 1, name: `Inhaber von ${tea} ändern?` }).waitFor();
  assert.match(await page.locator("main").textContent(), /Teeladen GmbH.*Eva Blum/s);
  await checkPage(page, "a holder before and after");
  await clickButton(page, "Inhaber ändern");
  await page.getByText("Die Domain hat jetzt diesen Inhaber.").waitFor();
  await page.getByText("Frühere Inhaber").click();
  assert.match(await page.locator("main").textContent(), /Teeladen GmbH, .* \(Inhaberwechsel\)/s);
  await checkPage(page, "a domain with a former holder");
  for (const { email } of clients) {
    const [notice] = await mails(email, 1, new RegExp(tea.replaceAll(".", "\\.")));
    assert.match(notice.text, /Bisher: Teeladen GmbH\nJetzt: {2}Eva Blum/);
  }
  assert.equal(await publicCountry(tea), "DE");
  ok("a domain changes hands, and both holders are told");

  await page.goto(portal("/portal/holders"));
  await page.getByRole("link", { name: "Eva Blum ändern" }).click();
  await field(page, "city").fill("Lübeck");
  await field(page, "postal_code").fill("23552");
  await clickButton(page, "Speichern");
  await at(page, `/portal/holders/${person.id}/domains`);
  await checkPage(page, "which domains follow");
  await page.getByRole("row", { name: new RegExp(tea) }).getByRole("checkbox").uncheck();
  await clickButton(page, "Angaben übernehmen");
  await page.getByText(/Erledigt: [^,\s]+\.$/).waitFor(); // one domain
  await page.goto(portal(`/portal/holders/${person.id}/domains`));
  const after = await page.locator("main").textContent();
  assert.match(after, /24103 Kiel/, "the domain that did not follow");
  assert.match(after, new RegExp("Domains mit den aktuellen Angaben\\s+" + flowers.replaceAll(".", "\\.")));
  ok("the customer chooses which domains follow a holder's new data");
});
