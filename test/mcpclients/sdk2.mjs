// The TypeScript SDK's second line. Its mode is "legacy" (it begins with
// initialize) or "auto" (it asks server/discover first).
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { visit, walk, withToken } from "./walk.mjs";

const [, , url, mode, token] = process.argv;
const transport = new StreamableHTTPClientTransport(new URL(url), withToken(token));
const client = new Client({ name: "stranger", version: "1" }, { versionNegotiation: { mode } });
await client.connect(transport);
await (token ? visit(client) : walk(client, () => client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion));
