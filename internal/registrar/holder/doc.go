// Package holder keeps the holders of an account: the people and organisations for whom it
// registers domains. An agency has one for each of its clients, a family one for each member.
//
// # Terms
//
//	registrant  the data of a domain's holder, as submitted to the registry
//	holder      an entry in an account's list, from which registrants are copied
//	own data    what the account's profile has (package account); it is the default holder, with
//	            the id Own, and also the recipient of invoices
//
// # Every domain has one registrant
//
// It is a copy, stored with the domain. It changes only by a domainchange.UpdateRegistrant, which
// names a holder and a reason; the previous one is then kept in the domain's history. That is
// true also where the registry stores no registrant, as for .com.
//
//	event                           what happens to registrants
//	an order names a holder         the item has a copy of its data, renewed when payment starts;
//	                                rules of the extension are checked for it
//	an item becomes a domain        the domain gets the item's copy
//	a holder, or own data, changes  none changes; the customer is asked which domains follow
//	a domain follows                a change of the registrant with the reason ReasonCorrection
//	a domain changes hands          a change of the registrant with the reason ReasonNewHolder
//	a holder is deleted             none changes; unpaid orders that name it can't be paid
//	the account is closed           it has no domains by then; its holders are deleted
//
// # Contacts
//
// A holder may name another one of the account, or the account itself, as its technical and as its
// billing contact. The registrant then has copies of their data, which change as above: a domain
// follows when its holder's contact, or the data of that, has changed.
//
//	registry                                     what it gets
//	takes a tech or billing contact              a contact with that data
//	would reject the data, or is behind a        the contact of the registrant, or the registrar's,
//	  gateway that chooses handles by itself     as without
//	takes none                                   nothing; the domain's page says so
//
// The admin contact is always the registrant. Deleting a holder ends that it is named by others;
// their domains keep the copies.
//
// Domains from before this package have no copy until the account's own data first change: those
// are stored with them first.
//
// # Who may do what
//
//	list ids and names   the customer, and those who act for them
//	everything else      the customer in person; changing and deleting after a recent sign-in
//
// The id of another account's holder is as unknown as one that does not exist.
package holder
