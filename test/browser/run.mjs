// Runs one journey: node run.mjs SETTINGS JOURNEY
import { closeBrowser } from "./lib.mjs";

try {
  await import("./" + process.argv[3]);
} finally {
  await closeBrowser();
}
