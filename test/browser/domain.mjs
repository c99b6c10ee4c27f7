// A registrant manages a domain: on a phone, and on a desktop without script. The page
// is compared with the registry's DNS and WHOIS.
import assert from "node:assert/strict";
import { at, clickButton, field, mails, ok, portal, refusal, sandbox, withBrowser } from "./lib.mjs";
import { checkPage, visit } from "./checkpage.mjs";
import { signIn } from "./accounts.mjs";

const name = "elbblick-roesterei.com";
const ds = "2371 13 2 1F987CC6583E92DF0890718C42A50A6E4C2C6F6F3E0C0DBE9C30BFD40AE8BC1F";
const states = ["kaffeekurse-hamburg.com", "elbblick-catering.com", "hafenfest-kaffee.io", "roestmeister-elbe.de", "kaffeebohne-nord.de"];

// whois returns the public record of the name, read through the product.
const whois = async () => {
  const answer = await fetch(sandbox.mcp, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "whois_lookup", arguments: { domain: name } } }),
  });
  const text = await answer.text();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text).result.structuredContent;
};

const open = async (page, domain) => {
  await page.goto(portal("/portal/domains?q=" + domain));
  await page.getByRole("link", { name: domain, exact: true }).click();
  await page.getByRole("heading", { level: 1, name: domain }).waitFor();
};
const said = (page, text) => page.locator("[role=status]", { hasText: text }).waitFor();

await withBrowser(async (page, context, watched) => {
  watched.expects(refusal("422"));
  await signIn(page, sandbox.demo.email, sandbox.demo.password);
  await visit(page, "/portal/domains");
  await page.getByLabel("Stand").selectOption("expired");
  await clickButton(page, "Anzeigen");
  await page.waitForURL(/state=expired/);
  await page.locator("tbody tr").first().waitFor();
  assert.equal(await page.locator("tbody tr").count(), 1);
  await visit(page, "/portal/domains?q=gibt-es-nicht", { name: "no domain found" });
  ok("found by part of the name and by state");

  await open(page, name);
  await checkPage(page, "a domain");
  const path = new URL(page.url()).pathname;
  await page.getByText("Nameserver ändern", { exact: true }).click();
  await field(page, "nameservers").fill("ns1.nordlicht.example");
  await clickButton(page, "Nameserver speichern");
  await page.getByText("Bitte geben Sie mehr Nameserver an, einen pro Zeile.").waitFor();
  assert.equal(await field(page, "nameservers").inputValue(), "ns1.nordlicht.example");
  await checkPage(page, "too few nameservers");
  await field(page, "nameservers").fill("ns1.nordlicht.example\nns2.nordlicht.example");
  await clickButton(page, "Nameserver speichern");
  await said(page, "Die Nameserver sind bei der Registry geändert.");
  await mails(sandbox.demo.email, 1, /: Nameserver geändert am /);
  assert.deepEqual((await whois()).nameservers, ["ns1.nordlicht.example", "ns2.nordlicht.example"]);
  ok("nameservers changed at the registry");

  await page.getByText("DS-Eintrag hinzufügen", { exact: true }).first().click();
  await field(page, "ds").last().fill(name + ". 3600 IN DS " + ds);
  await page.getByRole("button", { name: "DS-Eintrag hinzufügen" }).click();
  await said(page, "Der DS-Eintrag ist bei der Registry hinterlegt.");
  await page.locator(".ds code", { hasText: ds }).waitFor();
  ok("DS record added");

  await page.getByText("Nameserver ändern", { exact: true }).click();
  await page.getByLabel("Trotzdem sofort ändern").waitFor();
  await checkPage(page, "new nameservers for a signed domain");
  await field(page, "nameservers").fill("ns1.suedlicht.example\nns2.suedlicht.example");
  await clickButton(page, "Nameserver speichern");
  await said(page, "Die Nameserver werden am");
  await checkPage(page, "a planned nameserver change");
  assert.deepEqual((await whois()).nameservers, ["ns1.nordlicht.example", "ns2.nordlicht.example"]);
  await clickButton(page, "Änderung abbrechen");
  await said(page, "Die Änderung ist abgebrochen.");
  await page.getByText("DS-Eintrag hinzufügen", { exact: true }).first().click();
  await field(page, "ds").last().fill(ds);
  await page.getByRole("button", { name: "DS-Eintrag hinzufügen" }).click();
  await said(page, "Der DS-Eintrag ist bei der Registry hinterlegt.");
  ok("nameservers of a signed domain wait for the DS record");

  await clickButton(page, "Sperre aufheben");
  await said(page, "Die Sperre ist aufgehoben.");
  ok("transfer lock off");

  await clickButton(page, "Auth-Code anzeigen");
  const code = (await page.locator("#code").textContent()).trim();
  assert.match(code, /^.{8,16}$/);
  await checkPage(page, "an auth code, shown once");
  await mails(sandbox.demo.email, 1, /Auth-Code/);
  await page.getByRole("link", { name: "Fertig" }).click();
  await at(page, path);
  assert.ok(!(await page.content()).includes(code));
  ok("auth code shown once and mailed");
  await checkPage(page, "a domain with a history");

  for (const domain of states) {
    await open(page, domain);
    assert.equal(await page.locator("main .note").count(), 1, domain);
    assert.equal(await field(page, "nameservers").count(), 0, domain);
    await checkPage(page, domain);
  }
  ok("each state explains why changes are disabled");
}, { onPhone: true });

await withBrowser(async (page) => {
  await signIn(page, sandbox.demo.email, sandbox.demo.password);
  await open(page, name);
  await page.getByRole("button", { name: "DS-Eintrag 2371 entfernen" }).click();
  await said(page, "Der DS-Eintrag ist entfernt.");
  await clickButton(page, "Sperren");
  await said(page, "Die Domain hat jetzt eine Umzugssperre.");
  assert.match(await page.locator("main").textContent(), /Sperre aufgehoben.*Auth-Code|Auth-Code angezeigt/s);
  ok("all of it without script");
}, { javaScriptEnabled: false });
