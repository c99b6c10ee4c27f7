// Every page of the portal, on a phone.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { at, clickButton, field, linkIn, portal, refusal, sandbox, tool, totp, withBrowser } from "./lib.mjs";
import { newApplication } from "./oauthapps.mjs";
import { checkPage, visit } from "./checkpage.mjs";
import { address, makeToken, signIn } from "./accounts.mjs";

const open = ["/portal/sign-in", "/portal/register", "/portal/register/sent", "/portal/reset", "/portal/reset/sent"];
const members = [
  "/portal", "/portal/invoices", "/portal/profile", "/portal/profile/registrant", "/portal/profile/password", "/portal/profile/email",
  "/portal/security", "/portal/security/second-factor", "/portal/tokens", "/portal/activity", "/portal/domains", "/portal/orders", "/portal/payment-methods",
  "/portal/sign-in-again", "/portal/apps", "/portal/agents",
];
const links = ["/portal/confirm", "/portal/reset/new"];
// These links reveal nothing before sign-in.
const memberLinks = ["/portal/email/confirm", "/portal/security/enrol"];

await withBrowser(async (page, context, watched) => {
  watched.expects(refusal("4(00|01|04|10|22)"));
  for (const path of open) await visit(page, path);
  const badLink = async (path) => {
    const response = await page.goto(portal(path + "?link=dotkontor_link_nonsense"));
    assert.ok(response.status() >= 400, path);
    await checkPage(page, path + " with a bad link");
  };
  for (const path of links) await badLink(path);
  await visit(page, "/portal/nowhere", { status: 404 });

  await page.goto(portal("/portal/sign-in"));
  await field(page, "email").fill("nobody@example.org");
  await field(page, "password").fill("something wrong");
  await clickButton(page, "Anmelden");
  await page.locator("[role=alert], .problem").first().waitFor();
  await checkPage(page, "a refused sign-in");

  const email = address("seiten");
  await page.goto(portal("/portal/register"));
  await field(page, "email").fill(email);
  await clickButton(page, "Link anfordern");
  await at(page, "/portal/register/sent");
  await page.goto(await linkIn(email, "/portal/confirm"));
  await checkPage(page, "/portal/confirm");
  await field(page, "password").fill("ein langes Passwort 3");
  await clickButton(page, "Konto anlegen und anmelden");
  await page.waitForURL((url) => url.pathname !== "/portal/confirm");
  for (const path of members) await visit(page, path);
  for (const path of memberLinks) await badLink(path);

  await page.goto(portal("/portal/profile/registrant"));
  await page.locator("main form button").last().click();
  await checkPage(page, "registrant, incomplete");

  await makeToken(page, "ein Token mit einem recht langen Namen, wie ihn Leute geben");
  await checkPage(page, "a token, shown once");
  await visit(page, "/portal/tokens", { name: "tokens" });
  for (const path of ["/portal/agents", "/portal/agents/stop-all"]) await visit(page, path, { name: path + " with a token" });

  await page.goto(portal("/portal/security/second-factor"));
  const secret = (await page.locator(".secret").textContent()).trim();
  await field(page, "code").fill(totp(secret));
  await clickButton(page, "Einschalten");
  await page.locator("#codes li").first().waitFor();
  await checkPage(page, "recovery codes");
  await visit(page, "/portal/security", { name: "security with a second factor" });
  await clickButton(page, "Abmelden");
  await at(page, "/portal/sign-in");
  await checkPage(page, "signed out");
  await field(page, "email").fill(email);
  await field(page, "password").fill("ein langes Passwort 3");
  await clickButton(page, "Anmelden");
  await at(page, "/portal/sign-in/code");
  await checkPage(page, "/portal/sign-in/code");

  // The demo customer has all kinds of data, and chooses English.
  await context.clearCookies();
  await signIn(page, sandbox.demo.email, sandbox.demo.password);
  await visit(page, "/portal/domains", { name: "domains in all states" });
  const bulk = async (action) => {
    await page.goto(portal("/portal/domains?sort=term&size=200"));
    await page.locator("#all").check();
    await page.locator("#action").selectOption(action);
    await clickButton(page, "Weiter");
    await page.getByRole("link", { name: "Alle Domains" }).waitFor();
    await page.locator("main .wait").first().waitFor({ state: "detached" }); // until then it reloads itself
    await checkPage(page, "many domains: " + action);
  };
  for (const action of ["nameservers", "folder", "auto_renew_on", "lock"]) await bulk(action);
  await visit(page, "/portal/profile", { name: "profile of the demo customer" });

  // An order that needs a second check, and must still be completed.
  const made = await tool("start_order", { items: [
    { domain: "gogle.de", type: "register" }, { domain: "bücher-für-köln.com", type: "register" },
    { domain: "transfer-ein-recht-langer-name-wie-ihn-leute-haben.net", type: "transfer" },
  ] });
  const payment = new URL(made.payment_url).pathname;
  await visit(page, payment, { name: "an order with warnings" });
  await visit(page, "/portal/orders", { name: "orders" });
  await visit(page, "/portal/orders/" + made.orderId, { name: "an order in the portal" });
  await visit(page, "/checkout/dotkontor_pay_nonsense", { name: "a payment link that opens nothing", status: 404 });

  const listener = createServer((_, response) => response.end("back")).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const callback = `http://127.0.0.1:${listener.address().port}/callback`;
  const application = await newApplication(callback, "Ein Assistent mit einem recht langen Namen, wie ihn Anwendungen haben");
  const [, query] = application.begin().split("?");
  await visit(page, "/oauth/authorize/?" + query, { name: "consent" });
  await visit(page, "/oauth/authorize/?client_id=nobody", { name: "an unknown application", status: 400 });
  await page.goto(application.begin());
  watched.allows(new URL(callback).host);
  await clickButton(page, "Zustimmen und verbinden");
  await page.waitForURL(callback + "*");
  listener.close();
  await application.redeem(new URL(page.url()).searchParams.get("code"));
  await visit(page, "/portal/apps", { name: "a connected application" });
  await visit(page, "/portal/activity", { name: "activity with an application" });
  await page.goto(portal("/portal/profile"));
  await page.locator("select[name=language]").selectOption("en");
  await clickButton(page, "Sprache speichern");
  await page.locator("html[lang=en]").waitFor();
  for (const path of members) await visit(page, path, { name: path + " in English", language: "en" });
  await visit(page, "/oauth/authorize/?" + query, { name: "consent in English", language: "en" });
  await visit(page, payment, { name: "an order with warnings in English", language: "en" });
  await visit(page, "/portal/orders/" + made.orderId, { name: "an order in the portal, in English", language: "en" });
}, { onPhone: true });
