// The TypeScript SDK's first line, which most clients still run on.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { walk } from "./walk.mjs";

const transport = new StreamableHTTPClientTransport(new URL(process.argv[2]));
const client = new Client({ name: "stranger", version: "1" });
await client.connect(transport);
await walk(client, () => transport.protocolVersion);
