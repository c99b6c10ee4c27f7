// The TypeScript SDK's second line. Its mode is "legacy" (it begins with
// initialize) or "auto" (it asks server/discover first).
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { walk } from "./walk.mjs";

const [, , url, mode] = process.argv;
const transport = new StreamableHTTPClientTransport(new URL(url));
const client = new Client({ name: "stranger", version: "1" }, { versionNegotiation: { mode } });
await client.connect(transport);
await walk(client, () => client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion);
