// A customer opens the payment_url of an agent: reads, signs in, completes, pays or
// declines, and sees the result.
import assert from "node:assert/strict";
import { at, clickButton, field, gotoWithoutStream, ok, portal, refusal, sandbox, withBrowser } from "./lib.mjs";
import { checkPage } from "./checkpage.mjs";
import { address, register } from "./accounts.mjs";

const { story, pay, verify, code } = sandbox.order;
const payPath = new URL(pay).pathname;
const order = "Zahlungspflichtig bestellen";
const title = (page, name) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor({ timeout: 60_000 });
const button = (page, name) => page.getByRole("button", { name, exact: true });

// signInThere signs in and returns to the page.
async function signInThere(page, path) {
  await page.locator("main").getByRole("link", { name: "Anmelden", exact: true }).click();
  await fillIn(page, path);
}

async function fillIn(page, path) {
  await at(page, "/portal/sign-in");
  await field(page, "email").fill(sandbox.demo.email);
  await field(page, "password").fill(sandbox.demo.password);
  await clickButton(page, "Anmelden");
  await at(page, path);
}

// enterCard submits the provider's page.
async function enterCard(page, number) {
  await page.waitForURL(sandbox.provider + "/**");
  await page.locator("#cardNumber").fill(number);
  await page.locator("#pay").click();
}

async function done(page) {
  await at(page, payPath);
  await title(page, "Bestellung abgeschlossen");
  if (story === "pay" || story === "identity") await checkPage(page, "carried out");
}

const stories = {
  async pay(page) {
    // Another signed-in customer can only sign out.
    const email = address("fremd");
    await register(page, email, "ein langes Passwort 4");
    await page.goto(pay);
    await checkPage(page, "another customer's order");
    assert.equal(await button(page, order).count(), 0);
    const id = (await page.locator("main code").textContent()).trim();
    assert.equal((await page.goto(portal("/portal/orders/" + id))).status(), 404);
    await page.goto(portal("/portal/orders"));
    assert.equal(await page.locator("main table").count(), 0, "another customer's orders are listed");
    ok("another customer's order is not found in the portal");
    await page.goto(pay);
    await clickButton(page, "Konto wechseln");
    await fillIn(page, payPath);
    ok("another account can only sign out, and returns");
    await checkPage(page, "to be paid");
    assert.equal(await page.locator("#consent").count(), 0, "a company is asked as a consumer");

    await clickButton(page, order);
    await enterCard(page, "4000000000000002");
    await page.locator("[role=alert]").waitFor();
    await page.locator("#back").click();
    await at(page, payPath);
    await title(page, "Bestellung prüfen und bezahlen");
    ok("a declined card charges nothing, and the order waits");

    await clickButton(page, order);
    await page.waitForURL(sandbox.provider + "/**");
    await gotoWithoutStream(page, pay); // the customer has left the payment page
    await title(page, "Zahlung noch offen");
    await checkPage(page, "payment under way");
    await page.getByRole("link", { name: "Weiter zur Zahlung" }).click();
    ok("a pending payment can be continued");

    await enterCard(page, "4000002500003155");
    await page.locator("#approve").click();
    await done(page);
    ok("paid, registered and shown");
    assert.match(await page.locator("main").textContent(), /registriert/);
    await page.goto(pay + "/pay"); // a URL below ours that does not exist
    await page.goto(pay);
    assert.equal(await button(page, order).count(), 0);
    ok("a paid order cannot be paid again");
  },

  async decline(page) {
    await signInThere(page, payPath);
    await page.getByRole("link", { name: "Bestellung verwerfen" }).click();
    await title(page, "Bestellung verwerfen?");
    await checkPage(page, "decline");
    await page.getByRole("link", { name: "Zurück zur Bestellung" }).click();
    await at(page, payPath);
    await page.getByRole("link", { name: "Bestellung verwerfen" }).click();
    await clickButton(page, "Ja, verwerfen");
    await title(page, "Bestellung storniert");
    await checkPage(page, "declined");
    ok("declined after confirmation");
  },

  async identity(page) {
    await signInThere(page, payPath);
    assert.equal(await button(page, order).count(), 0, "payable without an identity");
    await checkPage(page, "identity missing");
    await page.goto(verify);
    await checkPage(page, "identity");
    await clickButton(page, "Prüfung starten");
    await page.waitForURL(sandbox.provider + "/**");
    await page.locator("#unverified").click();
    await page.goto(verify);
    await button(page, "Noch einmal versuchen").waitFor();
    await checkPage(page, "identity refused");
    ok("a rejected document can be followed by another");
    await clickButton(page, "Noch einmal versuchen");
    await page.waitForURL(sandbox.provider + "/**");
    await page.locator("#verified").click();
    await page.waitForURL((url) => url.href === verify);
    await page.getByText("Ihre Identität ist nachgewiesen.").waitFor();
    await checkPage(page, "identity shown");
    await page.getByRole("link", { name: "Zur Bestellung" }).click();
    await at(page, payPath);
    await clickButton(page, order);
    await enterCard(page, "4242424242424242");
    await done(page);
    ok("paid after identity verification");
  },

  async transfer(page) {
    await signInThere(page, payPath);
    await giveCode(page);
    await page.locator("#auto_renew").check();
    await checkPage(page, "transfer to be paid");
    await clickButton(page, order);
    await enterCard(page, "4242424242424242");
    await done(page);
    ok("paid and transferred");
    const name = (await page.locator("tbody strong").first().textContent()).trim();
    await page.goto(portal("/portal/domains"));
    const row = await page.locator("tr", { hasText: name }).textContent();
    assert.match(row, /Verlängert sich automatisch|ab der nächsten Laufzeit geht es automatisch/);
    ok("renews automatically, as agreed");
  },

  async "free-transfer"(page) {
    await signInThere(page, payPath);
    await giveCode(page);
    await checkPage(page, "free transfer");
    assert.equal(await button(page, order).count(), 0);
    await clickButton(page, "Kostenlos beauftragen");
    await at(page, payPath);
    await title(page, "Bestellung wird bearbeitet");
    await gotoWithoutStream(page, pay);
    await checkPage(page, "under way");
    ok("confirmed without paying");
  },
};

// giveCode tries a wrong code first.
async function giveCode(page) {
  assert.equal(await button(page, order).count(), 0, "payable without an auth code");
  if (story === "transfer") await checkPage(page, "auth code missing");
  await field(page, "code").fill("falsch-geraten");
  await clickButton(page, "Auth-Code speichern");
  await page.locator(".problem").waitFor();
  if (story === "free-transfer") await checkPage(page, "auth code wrong");
  await field(page, "code").fill(code);
  await clickButton(page, "Auth-Code speichern");
  await page.getByText("Der Auth-Code ist hinterlegt.").waitFor();
  ok("a wrong auth code is reported, the right one stored");
}

await withBrowser(async (page, context, watched) => {
  watched.allows(new URL(sandbox.provider).host);
  watched.expects(refusal("4(02|04|09|22)"));
  await page.goto(pay);
  const before = await page.content();
  for (const personal of [sandbox.demo.email, "Petersen", "Elbblick", "Sandbox"]) {
    assert.ok(!before.includes(personal), `a stranger reads ${personal}`);
  }
  assert.equal(await button(page, order).count(), 0);
  if (story === "pay" || story === "decline") await checkPage(page, "before sign-in"); // once on a desktop, once on a phone
  ok("nothing personal before sign-in");
  await stories[story](page);
}, { onPhone: story !== "pay" && story !== "transfer" });
