// A customer connects applications, with a redirect to a loopback address and in a
// window opened by the application.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { at, clickButton, field, mails, ok, portal, refusal, sandbox, withBrowser } from "./lib.mjs";
import { screenshot } from "./checkpage.mjs";
import { mine, newApplication } from "./oauthapps.mjs";

// The application's own pages, on another site than the portal.
const server = createServer((request, response) => {
  const bodies = {
    "/start": `<button onclick="open(new URLSearchParams(location.search).get('to'), 'consent', 'width=500,height=700')">connect</button>
      <script>addEventListener("message", (event) => { document.title = "told " + event.data })</script>`,
    "/callback": `<p>back</p><script>opener?.postMessage(location.search, "*")</script>`,
    "/frame": `<iframe></iframe><script>document.querySelector("iframe").src = new URLSearchParams(location.search).get("to")</script>`,
  };
  response.writeHead(200, { "Content-Type": "text/html" });
  response.end("<!doctype html><title>application</title>" + (bodies[new URL(request.url, "http://application").pathname] ?? ""));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const own = "http://127.0.0.1:" + server.address().port;
const callback = own + "/callback";

const arrived = async (page) => {
  await page.waitForURL((url) => url.href.startsWith(callback));
  return new URL(page.url()).searchParams;
};
const enterHere = async (page) => {
  await at(page, "/portal/sign-in");
  await field(page, "email").fill(sandbox.demo.email);
  await field(page, "password").fill(sandbox.demo.password);
  await clickButton(page, "Anmelden");
};

try {
  await withBrowser(async (page, context, watched) => {
    watched.allows(new URL(own).host);
    watched.expects(refusal("400"), /X-Frame-Options|frame-ancestors|chrome-error|Framing/i);
    const name = `<b>Bank</b><script>document.title="owned"</script><img src=x onerror=alert(1)>`;
    const application = await newApplication(callback, name);

    await page.goto(application.begin());
    await enterHere(page);
    await at(page, "/oauth/authorize/");
    assert.ok((await page.locator("main").textContent()).includes(name), "the name is not shown as it is");
    assert.equal(await page.locator("main b, main script, main img").count(), 0);
    assert.notEqual(await page.title(), "owned");
    assert.equal(await page.getByText("127.0.0.1").first().isVisible(), true);
    await screenshot(page, "consent-desk");
    ok("a name with markup is text");

    await clickButton(page, "Zustimmen und verbinden");
    const back = await arrived(page);
    assert.equal(back.get("state"), "a state");
    assert.equal(back.get("iss"), sandbox.portal);
    const tokens = await application.redeem(back.get("code"));
    assert.equal(await mine(tokens.access_token), 200);
    ok("approved and redirected to the application");

    const [letter] = await mails(sandbox.demo.email, 1, /Anwendung hat Zugang/);
    assert.ok(letter.text.includes("127.0.0.1"), letter.text);
    ok("notified by mail");

    await page.goto(application.begin());
    await clickButton(page, "Ablehnen");
    assert.equal((await arrived(page)).get("error"), "access_denied");
    ok("denied and redirected to the application");

    await page.goto(application.begin({ redirect_uri: "http://127.0.0.1.evil.example/callback" }));
    assert.equal(new URL(page.url()).pathname, "/oauth/authorize/");
    await page.locator("[role=alert]").waitFor();
    await screenshot(page, "refused-desk");
    ok("an invalid redirect URI shows our error page");

    await page.goto(`${own}/frame?to=${encodeURIComponent(application.begin())}`);
    await page.waitForLoadState("load");
    await page.waitForFunction(() => document.querySelector("iframe").src !== "");
    const frame = page.frames().find((candidate) => candidate !== page.mainFrame());
    await frame.waitForURL(/^chrome-error:/);
    ok("the consent page cannot be framed");

    await page.goto(portal("/portal/apps"));
    await page.getByText("<b>Bank</b>").first().waitFor();
    await screenshot(page, "apps-desk");
    await page.getByRole("button", { name: "trennen" }).first().click();
    await page.getByText("Sie haben noch keine Anwendung verbunden.").waitFor();
    assert.equal(await mine(tokens.access_token), 401);
    ok("disconnected and rejected at the next call");

    // Here the sign-in form leads to the application, through two redirects.
    await context.clearCookies();
    await page.goto(application.begin({ response_type: "token" }));
    await enterHere(page);
    assert.equal((await arrived(page)).get("error"), "unsupported_response_type");
    ok("an error after sign-in reaches the application");

    await context.clearCookies();
    await page.goto(`${own}/start?to=${encodeURIComponent(application.begin())}`);
    const opening = context.waitForEvent("page");
    await page.getByRole("button", { name: "connect" }).click();
    const popup = await opening;
    await at(popup, "/portal/sign-in");
    await clickButton(popup, "Menü"); // the window is small
    await clickButton(popup, "English");
    await popup.locator("html[lang=en]").waitFor();
    await clickButton(popup, "Menu");
    await clickButton(popup, "Deutsch");
    await popup.locator("html[lang=de]").waitFor();
    await enterHere(popup);
    await at(popup, "/oauth/authorize/");
    await clickButton(popup, "Zustimmen und verbinden");
    await page.waitForFunction(() => document.title.startsWith("told ?"));
    assert.match(await page.title(), /code=/);
    ok("the opener receives the callback of its window");

    await popup.close();

    // Other pages of the portal keep no reference to their window.
    await context.clearCookies();
    await page.goto(`${own}/start?to=${encodeURIComponent(portal("/portal/sign-in"))}`);
    const another = context.waitForEvent("page");
    await page.getByRole("button", { name: "connect" }).click();
    const alone = await another;
    await at(alone, "/portal/sign-in");
    assert.equal(await alone.evaluate(() => window.opener), null);
    ok("other portal pages have no opener");
  });
} finally {
  server.closeAllConnections();
  server.close();
}
