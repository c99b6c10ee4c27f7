// Package publicrecord decides what the public may know about a domain that we sponsor. RDAP
// (package web/rdap) publishes it.
//
// # Which domains
//
//	status of the domain    answer
//	active, expired         the record
//	redemption              the record, with the statuses of a deleted domain
//	pending                 not found: the registry has no such domain of ours yet
//	transit                 not found: DENIC sponsors it, not we
//	transferred_out         not found: another registrar sponsors it
//	not in the database     not found
//
// Everything comes from the database: the domain's row and the registry record that the registry
// sync, a change or the customer's page stored last. A public query never causes a registry
// query, so no stranger can use up our limits there.
//
// # Which fields
//
//	field                                 published  why
//	name                                  yes        it is the question
//	statuses                              yes        those of RFC 5731 and RFC 3915; a closed list
//	registration, change, expiry dates    yes        required by ICANN's response profile
//	end of the paid term                  yes        as "registrar expiration", required by it
//	nameservers with glue, DS records     yes        the DNS has them anyway
//	registrant's country and state        yes        required by ICANN's Registration Data Policy
//	registrant's organisation             no         needs the registrant's consent, which is not collected
//	name, street, city, postal code       no         personal data
//	phone, email                          no         personal data; the contact form replaces the email address
//	VAT id, customer, orders              no         not registration data
//	handles at the registry               no         a contact's handle could link domains
//	reasons and ends of locks             no         a lock of a dispute looks like any other clientTransferProhibited
//
// Record, which is all that a transport gets, has no field for what is not published, so a mistake
// there can't publish it. The query behind Store reads no other column about the registrant; the
// stored registry record has the handle of a contact, which stays in Domain.
//
// # Handles of registrants
//
// A registrant has no public identifier, because it would link all of a person's domains. The
// handle belongs to one domain: it is the domain's id, sealed with the instance's secret key
// (registrar.Seal.SealFixed). Handles of domains that were ordered together have nothing in
// common, a handle can't be guessed, and it leads to its domain without a table. Ids in clear
// would not do: they begin with the time at which a row was added, which the domains of one
// order share. A handle changes when the secret key is rotated; the former one works until the
// key is retired.
//
// # Nameservers
//
// Nameserver objects are the registry's (RFC 5732). We store the names and addresses of the hosts
// that a domain uses, without their ROIDs, statuses and dates, and ICANN's profile requires
// nameserver queries from registries only. So there is no lookup of nameservers.
package publicrecord
