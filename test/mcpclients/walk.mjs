// The steps of every client: it gets a client that is connected with nothing but the
// URL, and prints the results as one JSON document.
const calls = {
  taken: { name: "domain_check", arguments: { domain: "google.com" } },
  free: { name: "domain_check", arguments: { domain: "nobody-has-this-name.com" } },
  search: { name: "domain_search", arguments: { query: "nobody-has-this-name" } },
  whois: { name: "whois_lookup", arguments: { domain: "google.com" } },
  tlds: { name: "list_tlds", arguments: { category: "popular", limit: 3 } },
  price: { name: "tld_price", arguments: { tld: ".de" } },
  nonsense: { name: "domain_check", arguments: { domain: "no domain at all" } },
};

// The steps of a client with a customer's token.
export async function visit(client) {
  await client.listTools(); // from here on the client validates results against the tools' schemas
  const { structuredContent, content, isError } = await client.callTool({ name: "list_my_domains", arguments: {} });
  const orders = await order(client);
  await client.close();
  console.log(JSON.stringify({ structured: structuredContent, text: content[0].text, isError: isError === true, orders }));
}

// An order from creation to cancellation, and orders that can't be created or canceled.
async function order(client) {
  const call = async (name, args) => {
    const { structuredContent, isError } = await client.callTool({ name, arguments: args });
    return { ...structuredContent, isError: isError === true };
  };
  const rejected = await call("start_order", { items: [{ domain: "google.de", type: "register" }] });
  const made = await call("start_order", { items: [{ domain: "nobody-has-this-name.com", type: "register" }] });
  const { orderId } = made;
  return {
    rejected,
    made,
    status: await call("get_order_status", { orderId }),
    listed: await call("list_orders", { status: "awaiting_payment", limit: 1 }),
    canceled: await call("cancel_order", { orderId }),
    again: await call("cancel_order", { orderId }),
    unknown: await call("cancel_order", { orderId: "ord_nobody" }),
    page: await call("list_my_domains", { limit: 1, offset: 1, expiresBefore: "2999-01-01" }),
    badDate: await call("list_my_domains", { expiresBefore: "tomorrow" }),
  };
}

// The token is in the headers of the configuration, as users set it.
export const withToken = (token) => (token ? { requestInit: { headers: { Authorization: `Bearer ${token}` } } } : undefined);

export async function walk(client, protocol) {
  const listed = await client.listTools();
  const saw = { protocol: protocol(), tools: listed.tools.map((tool) => tool.name), results: {}, refusals: {} };
  for (const [key, call] of Object.entries(calls)) {
    const { structuredContent, content, isError } = await client.callTool(call);
    saw.results[key] = { structured: structuredContent, text: content[0].text, isError: isError === true };
  }
  for (const [name, args] of Object.entries({
    list_my_domains: {},
    start_order: { items: [{ domain: "nobody-has-this-name.com", type: "register" }] },
    get_order_status: { orderId: "1" },
    list_orders: {},
    cancel_order: { orderId: "1" },
    set_auto_renew: { domain: "nobody-has-this-name.com", enabled: false },
    list_holders: {},
  })) {
    try {
      saw.refusals[name] = { answered: await client.callTool({ name, arguments: args }) };
    } catch (error) {
      saw.refusals[name] = { error: error.constructor.name, status: error.status ?? error.code };
    }
  }
  // A rejected call must not end the connection.
  saw.still = (await client.listTools()).tools.length;
  await client.close();
  console.log(JSON.stringify(saw));
}
