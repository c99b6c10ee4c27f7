// A new private customer buys a .de domain: from the home page to the registered domain
// with a limited number of actions, fields and mails.
import assert from "node:assert/strict";
import { at, field, linkIn, mails, ok, portal, sandbox, withBrowser } from "./lib.mjs";
import { checkPage } from "./checkpage.mjs";
import { address } from "./accounts.mjs";

const limits = { actions: 9, fields: 8, mails: 2 };

// counter counts what a person does: presses and ticks are actions, inputs are fields.
function counter() {
  const done = { actions: [], fields: [] };
  return {
    done,
    fill: async (input, text) => {
      done.fields.push(String(input));
      await input.fill(text);
    },
    act: async (what, action) => {
      done.actions.push(what);
      await action();
    },
  };
}

async function purchase(page, email, texts) {
  const { done, fill, act } = counter();
  const check = (name) => texts.script && checkPage(page, name); // axe needs script
  const name = "tee-" + Date.now().toString(36);
  await fill(page.locator("#q"), name + ".de");
  await act("search", () => page.locator(".search button").click());
  await act("choose", () => page.locator("#hit-0 [data-basket] button").click());
  if (texts.script) await act("open the basket", () => page.locator("#hit-0 a.button").click());
  await page.waitForURL(/\/(warenkorb|basket)$/);
  await check("a basket of a new customer");
  await fill(field(page, "email"), email);
  await act("continue", () => page.getByRole("button", { name: texts.checkout, exact: true }).click());
  await at(page, "/portal/register/sent");
  const link = await linkIn(email, "/portal/confirm");
  await act("open the mail's link", () => page.goto(link));
  await check("a buyer's address to confirm");
  await act("confirm", () => page.getByRole("button", { name: texts.confirm, exact: true }).click());
  await page.waitForURL(/\/checkout\//);
  const pay = new URL(page.url()).pathname;
  await page.getByText(texts.byYou).waitFor();
  await check("a first order");
  await fill(field(page, "name"), "Erika Mustermann");
  await fill(field(page, "street"), "Heidestraße 17");
  await fill(field(page, "postal_code"), "51147");
  await fill(field(page, "city"), "Köln");
  await fill(field(page, "phone"), "+49 221 123456");
  await act("consent", () => page.locator("#consent").check());
  await act("order", () => page.getByRole("button", { name: texts.order, exact: true }).click());
  await page.waitForURL(sandbox.provider + "/**");
  await fill(page.locator("#cardNumber"), "4242424242424242");
  await act("pay", () => page.locator("#pay").click());
  await at(page, pay);
  await page.getByText(texts.registered).first().waitFor({ timeout: 60_000 });
  await page.getByText(texts.yours(name + ".de")).waitFor({ timeout: 60_000 });
  await check("a first domain");
  for (const kind of ["actions", "fields"]) {
    assert.ok(done[kind].length <= limits[kind], `${done[kind].length} ${kind}, at most ${limits[kind]}: ${done[kind].join(", ")}`);
  }
  ok(`bought with at most ${limits.actions} actions and ${limits.fields} fields ${texts.how}`);
  return name + ".de";
}

// enoughMails waits for the last mail of a purchase and for those that may follow it.
async function enoughMails(email, how) {
  await mails(email, limits.mails);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const all = await mails(email, limits.mails);
  assert.equal(all.length, limits.mails, all.map((mail) => mail.subject).join(", "));
  ok(`told with ${limits.mails} mails ${how}`);
}

const german = {
  script: true, how: "in German", checkout: "Weiter zur Kasse", confirm: "Adresse bestätigen und zur Kasse", byYou: "Zusammengestellt von Ihnen",
  order: "Zahlungspflichtig bestellen", registered: "registriert", yours: (domain) => domain + " gehört jetzt Ihnen.",
};
const english = {
  script: false, how: "in English without script", checkout: "Continue to checkout", confirm: "Confirm address and check out", byYou: "Prepared by you",
  order: "Order with obligation to pay", registered: "registered", yours: (domain) => domain + " is yours.",
};

await withBrowser(async (page, context, watched) => {
  watched.allows(new URL(sandbox.provider).host);
  const email = address("neu");
  await page.goto(portal("/"));
  await purchase(page, email, german);
  await enoughMails(email, german.how);
  await page.goto(portal("/portal"));
  await page.getByText("Sie haben noch kein Passwort.").waitFor();
  await checkPage(page, "overview of a buyer without a password");
  ok("asked to choose a password");
});

await withBrowser(async (page, context, watched) => {
  watched.allows(new URL(sandbox.provider).host);
  const email = address("new");
  await page.goto(portal("/"));
  await page.getByRole("button", { name: "Menü", exact: true }).click();
  await page.getByRole("button", { name: "English", exact: true }).click();
  await page.locator("html[lang=en]").waitFor();
  await purchase(page, email, english);
  await enoughMails(email, english.how);
}, { onPhone: true, javaScriptEnabled: false });

// The mail is read on another device than the one with the basket.
const email = address("zwei");
const name = "zwei-" + Date.now().toString(36) + ".de";
await withBrowser(async (page) => {
  await page.goto(portal("/"));
  await page.locator("#q").fill(name);
  await page.locator(".search button").click();
  await page.locator("#hit-0 [data-basket] button").click();
  await page.locator("#hit-0 a.button").click();
  await field(page, "email").fill(email);
  await page.getByRole("button", { name: german.checkout, exact: true }).click();
  await at(page, "/portal/register/sent");
});
await withBrowser(async (page) => {
  await page.goto(await linkIn(email, "/portal/confirm"));
  await page.getByRole("button", { name: german.confirm, exact: true }).click();
  await page.waitForURL(/\/checkout\//);
  await page.getByText(name).first().waitFor();
  await checkPage(page, "an order of another device");
  ok("the basket survives a change of the device");
  const [due, button] = [page.locator("form.pay .due"), page.locator("form.pay > button")];
  assert.equal(await due.locator("strong").textContent(), await page.locator(".sums dd.total").textContent());
  const [above, below] = [await due.boundingBox(), await button.boundingBox()];
  assert.ok(below.y - (above.y + above.height) < 40, "the total is directly above the button");
  await field(page, "street").fill("Heidestraße 17");
  const required = () => page.locator("#consent").evaluate((box) => box.required);
  assert.ok(await required(), "the browser does not ask a consumer for the consent");
  await field(page, "vat_id").evaluate((input) => { // in a closed part of the form
    input.value = "DE123456789";
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  assert.ok(!(await required()), "the browser asks a company for the consent");
  await page.locator("#consent").check();
  await page.getByRole("button", { name: "Menü", exact: true }).click();
  await page.getByRole("button", { name: "English", exact: true }).click();
  await page.locator("html[lang=en]").waitFor();
  assert.equal(await field(page, "street").inputValue(), "Heidestraße 17");
  assert.ok(await field(page, "vat_id").isVisible());
  assert.ok(!(await page.locator("#consent").isChecked()));
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  assert.ok(!page.url().includes("?"));
  ok("a change of language keeps the form, but no consent");
}, { onPhone: true });
