// Prints, for searches in a browser, when the key was pressed and when the first row
// had been painted, in milliseconds since 1970.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [base, executablePath, wanted] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), "dotkontor-screen-"));
const context = await chromium.launchPersistentContext(profile, { executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const times = [];
try {
  const page = context.pages()[0] ?? (await context.newPage());
  await page.goto(base + "/");
  for (let n = -5; n < Number(wanted); n++) {
    // Another address each time: an address may search 30 times a minute.
    await page.setExtraHTTPHeaders({ "X-Forwarded-For": `10.2.2.${n + 10}` });
    await page.locator("#q").fill("auf-dem-schirm-" + (n + 10));
    const search = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const began = performance.timeOrigin + performance.now();
          const watch = new MutationObserver(() => {
            if (!document.querySelector(".hit:not(.waiting)")) return;
            watch.disconnect();
            // The callback runs before a frame is painted, the message after it.
            requestAnimationFrame(() => {
              const { port1, port2 } = new MessageChannel();
              port1.onmessage = () => resolve({ began, painted: performance.timeOrigin + performance.now() });
              port2.postMessage("");
            });
          });
          document.getElementById("results").replaceChildren();
          watch.observe(document.getElementById("results"), { childList: true, subtree: true });
          document.querySelector("form.search").requestSubmit();
        }),
    );
    if (n >= 0) times.push(search); // the first ones open connections
    await page.waitForFunction(() => !document.querySelector(".hit.waiting"));
    await page.waitForTimeout(360); // below the rate limit of every host
  }
} finally {
  await context.close();
  rmSync(profile, { recursive: true, force: true });
}
console.log(JSON.stringify(times));
