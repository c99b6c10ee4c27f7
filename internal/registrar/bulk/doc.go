// Package bulk applies one action to many domains of a customer.
//
// It has no rules of its own about domains: every domain goes through the service that handles
// a single one, with the same checks, and has its own result. Nothing is all or nothing.
//
//	kind            service                   stored per domain            recent sign-in
//	lock            domainchange.QueueChange  a domain change              no
//	unlock          domainchange.QueueChange  a domain change              yes
//	nameservers     domainchange.QueueChange  a domain change              yes
//	renew           order.AddRenewals         an item of one order         no
//	auto_renew_on   renewal.Agree             a consent, after its offer   no
//	auto_renew_off  renewal.TurnOff           the end of its consent       no
//	folder          portfolio.SetFolder       the folder                   no
//	holder          domainchange.QueueChange  a domain change              yes
//
// Run does one domain after the other and then stores the action with what was decided about
// each, for the page that follows. What a domain change leads to is read from the change. If
// the process dies before the action is stored, what was done stays done, as if the domains
// had been handled one by one, and the whole request can be repeated: a change and a consent
// state the desired result, and an item replaces that of the same domain.
//
// Automatic renewals that one action turns on or off are confirmed by one mail
// (renewal.Batch); each domain keeps its own consent and its own evidence of the mail.
//
// Domain changes of one action are confirmed by one mail per 100 domains, which names them and
// links to the result; each has its own audit event. Locks send none.
//
// Before nameservers change, a page shows those of each domain now and then, and which domains take two
// steps (domainchange.PlanNameservers); the request has to name the nameservers that it showed.
//
// Keep stores a selection whose action is not confirmed yet, while the customer adds a payment
// method on another site.
//
// A request names at most MaxDomains domains. Only a customer's last 50 actions are stored.
// Of domains to renew, an order takes as many as fit (order.MaxPortalItems); the others are
// refused with BasketFull.
package bulk
