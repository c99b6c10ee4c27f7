// Pages of other sites: they post to the portal, frame it, and are linked from the page
// of a secret link.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { at, clickButton, field, linkIn, ok, portal, refusal, sandbox, withBrowser } from "./lib.mjs";
import { address, isSignedIn, signIn } from "./accounts.mjs";

const referers = [];
const server = createServer((request, response) => {
  referers.push(request.headers.referer ?? "");
  const { searchParams, pathname } = new URL(request.url, "http://stranger");
  const bodies = {
    "/post": `<form method="post" action="${portal(searchParams.get("to"))}"><input name="name" value="untergeschoben"></form>
      <script>document.forms[0].submit()</script>`,
    "/frame": `<iframe src="${portal("/portal/sign-in")}"></iframe>`,
  };
  response.writeHead(200, { "Content-Type": "text/html" });
  response.end("<!doctype html><title>stranger</title>" + (bodies[pathname] ?? ""));
});
await new Promise((resolve) => server.listen(0, "0.0.0.0", resolve));
const { port } = server.address();

try {
  await withBrowser(async (page, context, watched) => {
    watched.expects(refusal("40[34]"), /frame|X-Frame-Options|chrome-error/i, /favicon/);
    watched.allows("127.0.0.1:" + port);
    watched.allows("localhost:" + port);
    await signIn(page, sandbox.demo.email, sandbox.demo.password);

    for (const [host, rule] of [
      ["127.0.0.1", "cross-site post rejected"],
      // Cookies do not depend on the port, so this one is sent.
      ["localhost", "same-site post of another origin rejected"],
    ]) {
      for (const to of ["/portal/tokens", "/portal/sign-out-everywhere", "/portal/sign-out", "/portal/profile/registrant", "/portal/language"]) {
        const answer = page.waitForResponse((response) => response.url() === portal(to) && response.request().method() === "POST");
        await page.goto(`http://${host}:${port}/post?to=${encodeURIComponent(to)}`);
        assert.equal((await answer).status(), 403, to);
      }
      assert.equal(await isSignedIn(page), true, "still signed in");
      await page.goto(portal("/portal/tokens"));
      assert.equal(await page.getByText("untergeschoben").count(), 0);
      ok(rule);
    }

    await page.goto(`http://localhost:${port}/frame`);
    await page.waitForLoadState("load");
    const frame = page.frames().find((candidate) => candidate !== page.mainFrame());
    assert.equal(await frame.locator("[name=password]").count(), 0);
    assert.match(frame.url(), /^chrome-error:/);
    ok("framing rejected");

    const email = address("verlinkt");
    await context.clearCookies();
    await page.goto(portal("/portal/register"));
    await field(page, "email").fill(email);
    await clickButton(page, "Link anfordern");
    await at(page, "/portal/register/sent");
    const link = await linkIn(email, "/portal/confirm");
    const secret = new URL(link).searchParams.get("link");
    assert.match(secret, /^dotkontor_link_/);
    for (const host of ["127.0.0.1", "localhost"]) {
      await page.goto(link);
      referers.length = 0;
      await page.evaluate((url) => {
        const anchor = document.createElement("a");
        anchor.href = url;
        anchor.textContent = "away";
        document.body.append(anchor);
        anchor.click();
      }, `http://${host}:${port}/away`);
      await page.waitForURL(`http://${host}:${port}/away`);
      assert.ok(referers.length > 0);
      assert.ok(!referers.join(" ").includes(secret), "the secret went to " + host);
    }
    ok("no secret in a Referer");
  });
} finally {
  server.closeAllConnections();
  server.close();
}
