// Sign-in and tokens with script disabled.
import assert from "node:assert/strict";
import { ok, portal, sandbox, withBrowser } from "./lib.mjs";
import { isSignedIn, makeToken, signIn } from "./accounts.mjs";

await withBrowser(async (page) => {
  await signIn(page, sandbox.demo.email, sandbox.demo.password);
  assert.equal(await isSignedIn(page), true);
  ok("signed in without script");
  const token = await makeToken(page, "ohne Skript");
  assert.equal(await page.getByRole("button", { name: "Kopieren" }).isVisible(), false, "a button that does nothing");
  await page.goto(portal("/portal/tokens"));
  assert.ok(!(await page.content()).includes(token));
  await page.getByRole("button", { name: "Token ohne Skript widerrufen" }).click();
  await page.getByRole("cell", { name: "ohne Skript", exact: true }).waitFor({ state: "detached" });
  ok("token created without script");
}, { javaScriptEnabled: false });
