// Package operator is the pages of those who run the service: what waits for a
// person, work that is under way, how everybody outside does, the price list, the
// agents, customers and locks.
//
// For everybody else these pages do not exist: a stranger and a customer get the same
// 404, whatever they send. An operator is a customer's account with a role that only
// the command line gives, and has to have signed in with a passkey or a second
// factor; a password alone opens a page that says so. What hands out secrets, changes
// prices or locks a domain asks for a sign-in of the last minutes as well.
//
// Customers are read only, and there is no list to browse: an operator opens the one
// account that an address, a number or a domain names, and that look stands in the
// customer's own activity before the page is shown. Lists of work name domains and
// ids, never people.
package operator
