// Screenshots for docs/screenshots: each page on a desktop in light mode, the most
// important ones also in dark mode and on a phone. scripts/browse.sh runs it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { totp } from "./lib.mjs";

const info = JSON.parse(readFileSync(process.argv[2], "utf8"));
const folder = process.env.pictures;
const base = info.base_url;
const tallest = 1500;
const searched = "elbblick"; // most of them available, one taken

const browser = await chromium.launch({
  executablePath: process.env.chromium,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--font-render-hinting=none"],
});

// take captures the page as far as a reader would scroll.
async function take(page, name) {
  await page.evaluate(() => document.fonts.ready);
  const { width } = page.viewportSize();
  const height = Math.min(tallest, await page.evaluate(() => document.documentElement.scrollHeight));
  await page.screenshot({ path: join(folder, name + ".png"), clip: { x: 0, y: 0, width, height }, fullPage: true });
  console.log("docs/screenshots/" + name + ".png");
}

async function open(page, path, name) {
  const answer = await page.goto(base + path);
  assert.equal(answer.status(), name === "not-found" ? 404 : 200, path);
  await take(page, name);
}

async function search(page, text) {
  await page.goto(base + "/");
  await page.locator("main input[name=query], main input[type=search]").first().fill(text);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => /\d/.test(document.getElementById("summary")?.textContent ?? ""));
}

async function signIn(page) {
  await page.goto(base + "/portal/sign-in");
  await page.fill("input[name=email]", info.demo.email);
  await page.fill("input[name=password]", info.demo.password);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => !url.pathname.endsWith("/sign-in")); // to the checkout, if there is a basket
}

async function tool(name, args) {
  const answer = await fetch(info.mcp_url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", Authorization: "Bearer " + info.demo.token },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
  });
  const text = await answer.text();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text).result.structuredContent;
}

const everybody = {
  "/preise": "prices", "/assistent": "assistant", "/portal/sign-in": "sign-in", "/portal/register": "register", "/gibt-es-nicht": "not-found",
  "/impressum": "imprint", "/widerruf": "withdrawal", "/kuendigung": "cancellation", "/umzug": "transfer", "/hilfe": "help", "/kontakt": "contact", "/prices": "prices-english",
};
const members = {
  "/portal": "overview", "/portal/domains": "domains", "/portal/orders": "orders", "/portal/invoices": "invoices", "/portal/profile": "profile",
  "/portal/security": "security", "/portal/tokens": "tokens", "/portal/apps": "apps", "/portal/agents": "agents", "/portal/activity": "activity",
};

async function visitor(options, suffix, paths) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  await open(page, "/", "start" + suffix);
  await search(page, searched);
  await take(page, "search" + suffix);
  for (const [path, name] of Object.entries(paths)) await open(page, path, name + suffix);
  return { context, page };
}

async function basket(page, suffix = "") {
  await search(page, searched);
  for (const row of ["#hit-0", "#hit-4"]) await page.locator(row + " [data-basket] button").click();
  await page.locator("[data-count]", { hasText: "2" }).waitFor();
  await open(page, "/warenkorb", "basket" + suffix);
}

// operate grants the demo customer the role and signs in with a second factor.
async function operate(page) {
  const granted = execFileSync(process.env.binary, ["operators", "add", info.demo.email, "--config", info.config]).toString();
  await page.goto(base + "/portal/sign-in");
  await page.fill("input[name=email]", info.demo.email);
  await page.fill("input[name=password]", info.demo.password);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => !url.pathname.endsWith("/sign-in")); // to the checkout, if there is a basket
  await page.goto(base + granted.match(/\/portal\/security\/enrol\S+/)[0]);
  await page.getByRole("button", { name: "Einrichtung beginnen" }).click();
  await page.waitForURL(/portal\/security$/);
  await page.goto(base + "/portal/security/second-factor");
  const secret = (await page.locator(".secret").first().textContent()).trim();
  await page.fill("main [name=code]", totp(secret));
  await page.getByRole("button", { name: "Einschalten" }).click();
  await page.locator("#codes li").first().waitFor();
  await page.getByRole("button", { name: "Abmelden" }).click();
  await page.waitForURL(/sign-in/);
  await page.goto(base + "/portal/sign-in");
  await page.fill("input[name=email]", info.demo.email);
  await page.fill("input[name=password]", info.demo.password);
  await page.keyboard.press("Enter");
  await page.waitForURL(/sign-in\/code/);
  await page.fill("main [name=code]", totp(secret, Date.now() + 30_000)); // each code is valid once
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => !url.pathname.includes("/sign-in")); // to the checkout, if there is a basket
  for (const tab of ["", "/notices", "/orders", "/payments", "/refunds", "/revenue", "/margin", "/jobs", "/health", "/locks", "/customers", "/agents", "/prices"]) {
    await open(page, "/operator" + tab, "operator" + tab.replace("/", "-"));
  }
}

async function buy(page, suffix, domain) {
  const made = await tool("start_order", { items: [{ domain, type: "register" }] });
  await page.goto(made.payment_url);
  await take(page, "approve" + suffix);
  await page.getByRole("button", { name: /Zahlungspflichtig/ }).click();
  await page.waitForURL((url) => url.origin !== base);
  await page.fill("#cardNumber", "4242424242424242");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.origin === base);
  await page.getByRole("heading", { level: 1, name: "Bestellung abgeschlossen" }).waitFor({ timeout: 60_000 });
  await take(page, "done" + suffix);
}

async function domain(page, suffix = "") {
  await page.goto(base + "/portal/domains?q=elbblick-roesterei.com");
  await page.getByRole("link", { name: "elbblick-roesterei.com", exact: true }).click();
  await page.getByRole("heading", { level: 1 }).waitFor();
  await take(page, "domain" + suffix);
}

// mistaken is a form with errors.
async function mistaken(page, suffix = "") {
  await page.goto(base + "/portal/profile/registrant");
  await page.fill("main [name=postal_code]", "1");
  await page.fill("main [name=phone]", "keins");
  await page.getByRole("button", { name: "Speichern" }).click();
  await page.locator(".wrong").nth(1).waitFor();
  await take(page, "registrant" + suffix);
}

const desk = { viewport: { width: 1180, height: 760 }, locale: "de-DE" };
{
  const { context, page } = await visitor(desk, "", everybody);
  await context.clearCookies(); // the price list in English has chosen the language
  await basket(page);
  await signIn(page);
  await buy(page, "", "kaffeehaus-am-markt.de");
  for (const [path, name] of Object.entries(members)) await open(page, path, name);
  await domain(page);
  await mistaken(page);
  await context.close();
}
{
  const { context, page } = await visitor({ ...desk, colorScheme: "dark" }, "-dark", { "/preise": "prices" });
  await signIn(page);
  await open(page, "/portal/domains", "domains-dark");
  await context.close();
}
{
  const phone = { viewport: { width: 390, height: 844 }, locale: "de-DE", deviceScaleFactor: 1 };
  const { context, page } = await visitor(phone, "-phone", { "/preise": "prices" });
  await basket(page, "-phone");
  await signIn(page);
  await buy(page, "-phone", "kaffeehaus-am-hafen.de");
  await open(page, "/portal/domains", "domains-phone");
  await domain(page, "-phone");
  await open(page, "/portal/profile", "profile-phone");
  await mistaken(page, "-phone");
  await context.close();
}
{
  const context = await browser.newContext(desk);
  const page = await context.newPage();
  await signIn(page);
  await operate(page);
  await context.close();
}
await browser.close();
