// Package operator serves the operators' pages: open issues, withdrawals and terminations,
// orders, payments, refunds, revenue, margin, jobs, upstream health, the price list, agents,
// customers and locks.
//
// These pages do not exist for others: anonymous visitors and customers get the same
// 404, whatever they send. An operator is an account with a role that only the command
// line grants, and must sign in with a passkey or a second factor; after a sign-in with
// a password alone, only a page that says so is shown. Issuing secrets, changing prices and locking
// a domain also require a sign-in within the last minutes.
//
// Customers are read only, and there is no list to browse: an operator opens one account
// by address, number or domain, and the access is recorded in the customer's activity
// before the page is shown. The same holds for one order. Lists of jobs, orders, payments and
// refunds contain domains and IDs, never personal data. Withdrawals and terminations are
// addressed to the operator and belong to no account, so reading them is not recorded.
//
// A page never prints a code: each state, kind, action and error has a text.
package operator
