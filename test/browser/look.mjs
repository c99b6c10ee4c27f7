// What every page must be: no serious complaint of axe in light and dark, nothing
// wider than the screen, one heading; and a picture for people to look at.
import assert from "node:assert/strict";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { ok, portal, sandbox } from "./lib.mjs";

let number = 0;
// Pictures of several scripts may be in one folder.
const script = process.argv[1].replace(/.*\/|\.mjs$/g, "") + (sandbox.order ? "-" + sandbox.order.story : "");

// complaints of axe that are serious. Legacy mode spares a second tab for each
// page; it matters only to pages with frames of other origins.
async function complaints(page, only) {
  const axe = new AxeBuilder({ page }).setLegacyMode(true);
  const { violations } = await (only ? axe.withRules(only) : axe).analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target).join(", ")}`);
}

// inLight changes the light and waits until no colour is on its way any more.
async function inLight(page, colorScheme) {
  await page.emulateMedia({ colorScheme });
  await page.evaluate(async () => {
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    await Promise.allSettled(document.getAnimations().map((animation) => animation.finished));
  });
}

// look examines the page that is shown. In English it has the same elements, so
// axe is spared.
export async function look(page, name, language = "de") {
  if (language === "de") {
    assert.deepEqual(await complaints(page), [], name);
    await inLight(page, "dark");
    assert.deepEqual(await complaints(page, ["color-contrast"]), [], name + " in the dark");
    await inLight(page, "light");
  }
  assert.equal(await page.locator("html").getAttribute("lang"), language, name);
  assert.equal(await page.locator("h1").count(), 1, name);
  assert.ok((await page.title()).length > 3, name);
  const { wide, room } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, room: innerWidth }));
  assert.ok(wide <= room, `${name} is ${wide} wide on a phone of ${room}`);
  const file = script + "-" + String(++number).padStart(2, "0") + "-" + name.replace(/[^a-z0-9]+/gi, "-") + ".png";
  await page.screenshot({ path: join(sandbox.pictures, file), fullPage: true });
  ok("page " + name);
}

// visit looks at an address, which must answer with this status.
export async function visit(page, path, { status = 200, name = path.replace(/\?.*/, ""), language } = {}) {
  const response = await page.goto(portal(path));
  assert.equal(response.status(), status, path);
  assert.equal(new URL(page.url()).pathname, new URL(portal(path)).pathname, "led elsewhere");
  await look(page, name, language);
}
