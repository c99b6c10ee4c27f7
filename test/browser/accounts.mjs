// Steps that several journeys share.
import assert from "node:assert/strict";
import { at, atOverview, clickButton, field, linkIn, mails, portal } from "./lib.mjs";

// address returns a new address for each journey and person.
export const address = (who) => `${who}-${Date.now().toString(36)}@example.org`;

// register goes from the form through the mail to the profile. Without a password the
// account has passkeys only.
export async function register(page, email, password = "") {
  await page.goto(portal("/portal/register"));
  assert.equal(await page.locator("html").getAttribute("lang"), "de");
  await field(page, "email").fill(email);
  await clickButton(page, "Link anfordern");
  await at(page, "/portal/register/sent");
  const [mail] = await mails(email);
  assert.equal(mail.language, "de");
  await page.goto(await linkIn(email, "/portal/confirm"));
  await field(page, "password").fill(password);
  await clickButton(page, "Konto anlegen und anmelden");
  await page.waitForURL((url) => !url.pathname.startsWith("/portal/confirm"));
  await page.goto(portal("/portal/profile"));
  await at(page, "/portal/profile");
}

// enter fills in the sign-in form.
export async function enter(page, email, password) {
  await page.goto(portal("/portal/sign-in"));
  await field(page, "email").fill(email);
  await field(page, "password").fill(password);
  await clickButton(page, "Anmelden");
}

export async function signIn(page, email, password) {
  await enter(page, email, password);
  await atOverview(page);
}

export async function signOut(page) {
  await clickButton(page, "Abmelden");
  await at(page, "/portal/sign-in");
}

// isSignedIn requests a page for customers only.
export async function isSignedIn(page) {
  await page.goto(portal("/portal/profile"));
  return new URL(page.url()).pathname === "/portal/profile";
}

// makeToken returns the value shown on the page.
export async function makeToken(page, name) {
  await page.goto(portal("/portal/tokens"));
  await field(page, "name").fill(name);
  await clickButton(page, "Token anlegen");
  const value = (await page.locator("#token").textContent()).trim();
  assert.match(value, /^dotkontor_live_[0-9A-Za-z]{49}$/);
  return value;
}
