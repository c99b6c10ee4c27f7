// Version 2 of the TypeScript SDK. Its mode is "legacy" (starts with initialize) or
// "auto" (starts with server/discover).
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { visit, walk, withToken } from "./walk.mjs";

const [, , url, mode, token] = process.argv;
const transport = new StreamableHTTPClientTransport(new URL(url), withToken(token));
const client = new Client({ name: "stranger", version: "1" }, { versionNegotiation: { mode } });
await client.connect(transport);
await (token ? visit(client) : walk(client, () => client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion));
