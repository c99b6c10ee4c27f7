// Every page: no serious complaint of axe in light and dark, nothing wider than a
// phone, one heading, and a picture for people to look at.
import assert from "node:assert/strict";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { browse, field, linkIn, ok, portal, press, refusal, sandbox, totp, at } from "./lib.mjs";
import { newApplication } from "./applications.mjs";
import { address, makeToken, signIn } from "./people.mjs";

let number = 0;

// complaints of axe that are serious. Legacy mode spares a second tab for each
// page; it matters only to pages with frames of other origins.
async function complaints(page, only) {
  const axe = new AxeBuilder({ page }).setLegacyMode(true);
  const { violations } = await (only ? axe.withRules(only) : axe).analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target).join(", ")}`);
}

// look examines the page that is shown. In English it has the same elements, so
// axe is spared.
async function look(page, name, language = "de") {
  if (language === "de") {
    assert.deepEqual(await complaints(page), [], name);
    await page.emulateMedia({ colorScheme: "dark" });
    assert.deepEqual(await complaints(page, ["color-contrast"]), [], name + " in the dark");
    await page.emulateMedia({ colorScheme: "light" });
  }
  assert.equal(await page.locator("html").getAttribute("lang"), language, name);
  assert.equal(await page.locator("h1").count(), 1, name);
  assert.ok((await page.title()).length > 3, name);
  const { wide, room } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, room: innerWidth }));
  assert.ok(wide <= room, `${name} is ${wide} wide on a phone of ${room}`);
  const file = String(++number).padStart(2, "0") + "-" + name.replace(/[^a-z0-9]+/gi, "-") + ".png";
  await page.screenshot({ path: join(sandbox.pictures, file), fullPage: true });
  ok("page " + name);
}

// visit looks at an address, which must answer with this status.
async function visit(page, path, { status = 200, name = path.replace(/\?.*/, ""), language } = {}) {
  const response = await page.goto(portal(path));
  assert.equal(response.status(), status, path);
  assert.equal(new URL(page.url()).pathname, new URL(portal(path)).pathname, "led elsewhere");
  await look(page, name, language);
}

const open = ["/portal/sign-in", "/portal/register", "/portal/register/sent", "/portal/reset", "/portal/reset/sent"];
const members = [
  "/portal/profile", "/portal/profile/registrant", "/portal/profile/password", "/portal/profile/email",
  "/portal/security", "/portal/security/second-factor", "/portal/tokens", "/portal/activity", "/portal/domains",
  "/portal/sign-in-again", "/portal/apps",
];
const links = ["/portal/confirm", "/portal/reset/new", "/portal/email/confirm"];

await browse(async (page, context, watched) => {
  watched.expects(refusal("4(00|01|04|10|22)"));
  for (const path of open) await visit(page, path);
  for (const path of links) {
    const response = await page.goto(portal(path + "?link=dotkontor_link_nonsense"));
    assert.ok(response.status() >= 400, path);
    await look(page, path + " with a bad link");
  }
  await visit(page, "/portal/nowhere", { status: 404 });

  await page.goto(portal("/portal/sign-in"));
  await field(page, "email").fill("nobody@example.org");
  await field(page, "password").fill("something wrong");
  await press(page, "Anmelden");
  await page.locator("[role=alert], .problem").first().waitFor();
  await look(page, "a refused sign-in");

  const email = address("seiten");
  await page.goto(portal("/portal/register"));
  await field(page, "email").fill(email);
  await press(page, "Link anfordern");
  await at(page, "/portal/register/sent");
  await page.goto(await linkIn(email, "/portal/confirm"));
  await look(page, "/portal/confirm");
  await field(page, "password").fill("ein langes Passwort 3");
  await press(page, "Konto anlegen und anmelden");
  await page.waitForURL((url) => url.pathname !== "/portal/confirm");
  for (const path of members) await visit(page, path);

  await page.goto(portal("/portal/profile/registrant"));
  await page.locator("main form button").last().click();
  await look(page, "registrant, incomplete");

  await makeToken(page, "ein Token mit einem recht langen Namen, wie ihn Leute geben");
  await look(page, "a token, shown once");
  await visit(page, "/portal/tokens", { name: "tokens" });

  await page.goto(portal("/portal/security/second-factor"));
  const secret = (await page.locator(".secret").textContent()).trim();
  await field(page, "code").fill(totp(secret));
  await press(page, "Einschalten");
  await page.locator("#codes li").first().waitFor();
  await look(page, "recovery codes");
  await visit(page, "/portal/security", { name: "security with a second factor" });
  await press(page, "Abmelden");
  await at(page, "/portal/sign-in");
  await look(page, "signed out");
  await field(page, "email").fill(email);
  await field(page, "password").fill("ein langes Passwort 3");
  await press(page, "Anmelden");
  await at(page, "/portal/sign-in/code");
  await look(page, "/portal/sign-in/code");

  // The demo customer has everything, and chooses English.
  await context.clearCookies();
  await signIn(page, sandbox.demo.email, sandbox.demo.password);
  await visit(page, "/portal/domains", { name: "domains in all states" });
  await visit(page, "/portal/profile", { name: "profile of the demo customer" });

  // Nobody listens at the callback; the browser is stopped on its way there.
  const callback = "http://127.0.0.1:43121/callback";
  const application = await newApplication(callback, "Ein Assistent mit einem recht langen Namen, wie ihn Anwendungen haben");
  const [, query] = application.begin().split("?");
  await visit(page, "/oauth/authorize/?" + query, { name: "consent" });
  await visit(page, "/oauth/authorize/?client_id=nobody", { name: "an unknown application", status: 400 });
  await page.goto(application.begin());
  watched.allows(new URL(callback).host);
  let answer;
  await page.route(callback + "*", (route) => {
    answer = new URL(route.request().url()).searchParams;
    return route.fulfill({ body: "back", contentType: "text/plain" });
  });
  await press(page, "Zustimmen und verbinden");
  await page.waitForURL(callback + "*");
  await application.redeem(answer.get("code"));
  await visit(page, "/portal/apps", { name: "a connected application" });
  await visit(page, "/portal/activity", { name: "activity with an application" });
  await page.goto(portal("/portal/profile"));
  await page.locator("select[name=language]").selectOption("en");
  await press(page, "Sprache speichern");
  await page.locator("html[lang=en]").waitFor();
  for (const path of members) await visit(page, path, { name: path + " in English", language: "en" });
  await visit(page, "/oauth/authorize/?" + query, { name: "consent in English", language: "en" });
}, { onPhone: true });
