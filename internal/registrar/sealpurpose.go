package registrar

// A purpose binds a sealed value to its place in the database. Each sealed column also
// needs an entry in the store's table of sealed columns, so that a key rotation finds
// it.

// AuthCodePurpose seals the auth code of a name, from the order to its provisioning.
func AuthCodePurpose(name string) string { return "auth:" + name }

// TransferListPurpose seals a customer's list of transfers with their auth codes, until they are
// ordered.
func TransferListPurpose(customer string) string { return "transfers:" + customer }

// SearchPurpose seals a search in the address of its results. It is stored nowhere.
const SearchPurpose = "search"

// NoticeReceiptPurpose seals the id of a notice in the address of its receipt. It is stored nowhere.
const NoticeReceiptPurpose = "notice-receipt"

// RDAPHandlePurpose seals the id of a domain in the public handle of its registrant. It is
// stored nowhere.
const RDAPHandlePurpose = "rdap-handle"

// TOTPPurpose seals the secret of an account's authenticator app, also before it is
// confirmed.
func TOTPPurpose(customer string) string { return "totp:" + customer }

// AgentSecretPurpose seals a signing secret of an agent.
func AgentSecretPurpose(agent, id string) string { return "agent:" + agent + ":" + id }

// AgentWebhookPurpose seals the secret that signs webhooks to an agent.
func AgentWebhookPurpose(agent string) string { return "agent-webhook:" + agent }

// PayLinkPurpose seals the secret of an order's payment link.
func PayLinkPurpose(order string) string { return "order-pay:" + order }

// VerifyLinkPurpose seals the secret of an order's identity verification link.
func VerifyLinkPurpose(order string) string { return "order-verify:" + order }

// ResponsePurpose seals the response stored for an idempotency key.
func ResponsePurpose(scope, key string) string { return "answer:" + scope + ":" + key }

// ServiceSecretPurpose seals a secret that the nodes share.
func ServiceSecretPurpose(name string) string { return "service:" + name }

// CanaryPurpose seals the value that proves which key a database is sealed with.
func CanaryPurpose(keyID string) string { return "canary:" + keyID }
