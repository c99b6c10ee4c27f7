// Version 1 of the TypeScript SDK, which most clients still use.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { visit, walk, withToken } from "./walk.mjs";

const [, , url, , token] = process.argv;
const transport = new StreamableHTTPClientTransport(new URL(url), withToken(token));
const client = new Client({ name: "stranger", version: "1" });
await client.connect(transport);
await (token ? visit(client) : walk(client, () => transport.protocolVersion));
