// What holds for every page: no serious axe violation in light and dark mode, nothing
// wider than the screen, no time wider than its column, one heading. Screenshots are taken if there is a folder for them.
import assert from "node:assert/strict";
import { join } from "node:path";
import axe from "axe-core";
import { ok, portal, sandbox } from "./lib.mjs";

let number = 0;
// Several scripts share the folder.
const script = process.argv[3].replace(/.*\/|\.mjs$/g, "") + (sandbox.order ? "-" + sandbox.order.story : "");

// seriousViolations runs axe, which stays in the page for the next run. Only violations
// leave the page: the full report is megabytes of JSON.
async function seriousViolations(page, only) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  return page.evaluate(async (only) => {
    const options = { resultTypes: ["violations"], ...(only && { runOnly: only }) };
    const { violations } = await window.axe.run(document, options);
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target).join(", ")}`);
  }, only);
}

// setColorScheme switches between light and dark and waits until no animation runs.
async function setColorScheme(page, colorScheme) {
  await page.emulateMedia({ colorScheme });
  await page.evaluate(async () => {
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    await Promise.allSettled(document.getAnimations().map((animation) => animation.finished));
  });
}

// checkPage checks the current page. English pages have the same elements as German
// ones, so axe runs on German ones only.
export async function checkPage(page, name, language = "de") {
  if (language === "de") {
    assert.deepEqual(await seriousViolations(page), [], name);
    await setColorScheme(page, "dark");
    assert.deepEqual(await seriousViolations(page, ["color-contrast"]), [], name + " in dark mode");
    await setColorScheme(page, "light");
  }
  assert.equal(await page.locator("html").getAttribute("lang"), language, name);
  assert.equal(await page.locator("h1").count(), 1, name);
  assert.ok((await page.title()).length > 3, name);
  const { width, screen } = await page.evaluate(() => ({ width: document.documentElement.scrollWidth, screen: innerWidth }));
  assert.ok(width <= screen, `${name} is ${width} wide on a screen of ${screen}`);
  const cut = await page.evaluate(() => [...document.querySelectorAll(".log td time")].filter((time) => {
    const cell = time.closest("td");
    return time.getBoundingClientRect().right > cell.getBoundingClientRect().right - parseFloat(getComputedStyle(cell).paddingRight) + 0.5;
  }).map((time) => time.textContent));
  assert.deepEqual(cut, [], name + ": times wider than their column");
  await screenshot(page, script + "-" + String(++number).padStart(2, "0") + "-" + name.replace(/[^a-z0-9]+/gi, "-"));
  ok("page " + name);
}

// screenshot saves the page for a person to look at.
export async function screenshot(page, name) {
  if (sandbox.pictures) await page.screenshot({ path: join(sandbox.pictures, name + ".png"), fullPage: true });
}

// visit opens a path, expects this status and checks the page.
export async function visit(page, path, { status = 200, name = path.replace(/\?.*/, ""), language } = {}) {
  const response = await page.goto(portal(path));
  assert.equal(response.status(), status, path);
  assert.equal(new URL(page.url()).pathname, new URL(portal(path)).pathname, "redirected");
  await checkPage(page, name, language);
}
