// Checks an OpenAPI document against the strictest rules of two linters. Usage:
//   node openapi.mjs DOCUMENT
// It prints the findings and fails if there are any, hints included.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const document = process.argv[2];
const require = createRequire(import.meta.url);
const folder = (name) => join(dirname(require.resolve(join(name, "package.json"))));
writeFileSync("spectral.json", JSON.stringify({ extends: ["spectral:oas"] }));
writeFileSync("redocly.yaml", "telemetry: off\nextends:\n  - recommended-strict\n");

const linters = {
  redocly: [join(folder("@redocly/cli"), "bin/cli.js"), "lint", "--config", "redocly.yaml", document],
  spectral: [
    join(folder("@stoplight/spectral-cli"), "dist/index.js"), "lint", "--ruleset", "spectral.json", "--fail-severity=hint", document,
  ],
};
// Neither linter checks for updates.
const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", CI: "true" };
for (const [name, args] of Object.entries(linters)) {
  const ran = spawnSync(process.execPath, args, { env, encoding: "utf8", timeout: 90_000 });
  if (ran.status !== 0) {
    console.error(`${name}: exit ${ran.status}\n${ran.stdout}${ran.stderr}`);
    process.exitCode = 1;
  }
}
