// The mixed flow with version 1 of the TypeScript SDK.
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Keychain, Robot, mixed } from "./mixed.mjs";

const [, , url, robotURL, method] = process.argv;
const robot = new Robot(robotURL);
const keychain = new Keychain(robot, method);
const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: keychain });
await mixed({
  client: new Client({ name: "stranger", version: "1" }), transport, keychain, robot, Unauthorized: UnauthorizedError,
  finish: (back) => transport.finishAuth(back.get("code")),
});
