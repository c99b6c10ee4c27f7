// Package delegate answers who acts for a customer, and ends it.
//
//	kind         access                                              paid by
//	token        all signed-in MCP tools                             a person in a browser
//	application  the same with scope mcp:write; lookups otherwise    a person in a browser
//	agent        checkout sessions: the customer's orders, except    a payment token that the
//	             renewals                                            customer gave the agent
//
// None of them can charge the customer's saved payment method. What a delegate has ordered
// is what orders say about who created them; an agent also counts orders of the customer
// that it paid. The orders of those whose access has ended are summed, each order once. Amounts
// are without refunds.
//
// StopAll revokes all tokens, applications and links in one transaction, with the audit event
// of each. Expired tokens have no access to end: they stay listed. Like the single
// revocations, it requires a signed-in person but no recent sign-in, and sends no mail: it only
// takes access away. Orders that a delegate prepared stay open; the customer pays or discards
// them.
package delegate
