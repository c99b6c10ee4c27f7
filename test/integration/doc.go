// Package integration has the suites that wire product packages with real databases,
// simulated registries and payment providers. Most run in one process; orders and
// reconcile run the built binary.
package integration
