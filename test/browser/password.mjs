// A customer with a password and an authenticator app forgets the password.
import assert from "node:assert/strict";
import { at, atOverview, clickButton, field, linkIn, mails, ok, portal, refusal, totp, withBrowser } from "./lib.mjs";
import { address, enter, isSignedIn, register, signOut } from "./accounts.mjs";

const email = address("passwort");
const password = "ein langes Passwort 1";
const other = "ein anderes langes Passwort 2";

// enterCode submits a code on the second-factor page.
async function enterCode(page, code) {
  await at(page, "/portal/sign-in/code");
  await field(page, "code").fill(code);
  await clickButton(page, "Weiter");
}

await withBrowser(async (page, context, watched) => {
  // This journey submits forms that are rejected.
  watched.expects(refusal("4(01|22|29)"));
  await register(page, email, password);

  await page.goto(portal("/portal/security/second-factor"));
  const secret = (await page.locator(".secret").textContent()).trim();
  await field(page, "code").fill(totp(secret));
  await clickButton(page, "Einschalten");
  await page.locator("#codes li").first().waitFor();
  const codes = (await page.locator("#codes li").allTextContents()).map((code) => code.trim());
  assert.equal(new Set(codes).size, 10);
  ok("second factor on");
  await page.goto(portal("/portal/security"));
  assert.ok(!(await page.content()).includes(codes[0]));

  await signOut(page);
  await enter(page, email, password);
  await at(page, "/portal/sign-in/code");
  assert.equal(await isSignedIn(page), false, "the password alone signs in");
  await enter(page, email, password);
  const code = totp(secret, Date.now() + 30_000); // the next step's code is accepted early
  await enterCode(page, code);
  await atOverview(page);
  ok("signed in with a code");

  await signOut(page);
  await enter(page, email, password);
  await enterCode(page, code);
  await page.locator(".problem, [role=alert]").first().waitFor();
  assert.equal(await isSignedIn(page), false);
  ok("same code rejected");

  await enter(page, email, password);
  await enterCode(page, codes[3]);
  await atOverview(page);
  ok("recovery code works");
  await signOut(page);
  await enter(page, email, password);
  await enterCode(page, codes[3]);
  await page.locator(".problem, [role=alert]").first().waitFor();
  assert.equal(await isSignedIn(page), false);
  ok("same recovery code rejected");

  await enter(page, email, password);
  await enterCode(page, codes[4]);
  await atOverview(page);

  await withBrowser(async (phone, _, watchedToo) => {
    watchedToo.expects(refusal("4(01|04|10|22)"));
    await phone.goto(portal("/portal/reset"));
    await field(phone, "email").fill(email);
    const sofar = (await mails(email)).length;
    await clickButton(phone, "Link anfordern");
    await at(phone, "/portal/reset/sent");
    const link = await linkIn(email, "/portal/reset/new", sofar + 1);
    await phone.goto(link);
    await field(phone, "password").fill(other);
    await clickButton(phone, "Passwort speichern");
    await phone.waitForURL((url) => url.pathname !== "/portal/reset/new");
    ok("password reset");
    await phone.goto(link);
    await phone.getByRole("heading", { level: 1, name: "Dieser Link gilt nicht mehr" }).waitFor();
    ok("reset link works once");
  }, { onPhone: true });
  assert.equal(await isSignedIn(page), false);
  ok("other sessions ended");

  await enter(page, email, password);
  await page.locator("[role=alert], .problem").first().waitFor();
  await enter(page, email, other);
  await enterCode(page, codes[5]); // a reset leaves the second factor on
  await atOverview(page);
});
