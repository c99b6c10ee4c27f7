// The mixed flow with version 2 of the TypeScript SDK, which also requires iss.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { Keychain, Robot, mixed } from "./mixed.mjs";

const [, , url, robotURL, method, mode] = process.argv;
const robot = new Robot(robotURL);
const keychain = new Keychain(robot, method);
const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: keychain });
await mixed({
  client: new Client({ name: "stranger", version: "1" }, { versionNegotiation: { mode } }), transport, keychain, robot,
  Unauthorized: UnauthorizedError, finish: (back) => transport.finishAuth(back),
});
