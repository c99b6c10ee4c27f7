package store

import (
	"cmp"
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// guestKey is the email key of a guest account: no valid address, so no sign-in is possible.
func guestKey(orderID string) string { return "unclaimed:" + orderID }

// contactJSON is the stored form of a contact.
type contactJSON struct {
	FirstName    string `json:"first_name,omitempty"`
	LastName     string `json:"last_name,omitempty"`
	Organisation string `json:"organisation,omitempty"`
	Email        string `json:"email,omitempty"`
	Phone        string `json:"phone,omitempty"`
	VATID        string `json:"vat_id,omitempty"`
	Street       string `json:"street,omitempty"`
	Street2      string `json:"street2,omitempty"`
	PostalCode   string `json:"postal_code,omitempty"`
	City         string `json:"city,omitempty"`
	State        string `json:"state,omitempty"`
	Country      string `json:"country,omitempty"`
	Language     string `json:"language,omitempty"`
}

// AddSession stores an agent's order, with a guest account if it has no customer.
// Concurrent calls may exceed the limit of an agent's open sessions by one each.
func (db *DB) AddSession(ctx context.Context, newOrder order.Order, fitted *order.Contact, maxOpen, maxOpenOfCustomer int, event registrar.AuditEvent) error {
	return db.write(ctx, func(q *query.Queries) error {
		if err := prepareBuyer(ctx, q, newOrder, fitted, maxOpenOfCustomer); err != nil {
			return err
		}
		newOrder.Email, newOrder.Version = emailKey(newOrder.Email), firstVersion
		if err := insertOrder(ctx, q, newOrder, maxOpen); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

// prepareBuyer creates a guest account, or checks the limit of the customer's open orders.
func prepareBuyer(ctx context.Context, q *query.Queries, newOrder order.Order, fitted *order.Contact, maxOpen int) error {
	if !newOrder.Claimed {
		if err := q.InsertGuest(ctx, query.InsertGuestParams{
			ID: newOrder.Customer, Email: newOrder.Contact.Email, EmailKey: guestKey(newOrder.ID), UserHandle: guestKey(newOrder.ID),
			Language: newOrder.Contact.GuestLanguage(), CreatedAt: micros(newOrder.CreatedAt),
		}); err != nil || fitted == nil {
			return err
		}
		return putGuestRegistrant(ctx, q, newOrder.Customer, *fitted, newOrder.CreatedAt)
	}
	if err := rowOr(noSuchCustomer())(q.LockBuyer(ctx, newOrder.Customer)); err != nil {
		return err
	}
	_, err := checkOpenOrderLimit(ctx, q, newOrder, maxOpen)
	return err
}

func putGuestRegistrant(ctx context.Context, q *query.Queries, id string, fitted order.Contact, now time.Time) error {
	kind := account.Person
	if fitted.IsCompany() {
		kind = account.Company
	}
	return putRegistrant(ctx, q, id, account.Registrant{
		Kind: kind, Name: fitted.Name(), Organisation: fitted.Organisation, Street: fitted.Street, PostalCode: fitted.PostalCode,
		City: fitted.City, State: fitted.State, Country: fitted.Country, Phone: fitted.Phone, VATID: fitted.VATID, UpdatedAt: now,
	})
}

// updateGuestBuyer stores new data about a guest, or deletes the account after a claim.
func updateGuestBuyer(ctx context.Context, q *query.Queries, transition order.Transition) error {
	was, now := transition.From, transition.To
	switch {
	case was.Claimed:
		return nil
	case now.Claimed:
		if err := q.ReassignPaymentsOfOrder(ctx, now.Customer, now.ID); err != nil {
			return err
		}
		return deleteGuest(ctx, q, was.Customer)
	case was.Contact == now.Contact:
		return nil
	}
	if err := q.UpdateGuest(ctx, query.UpdateGuestParams{Email: now.Contact.Email, Language: now.Contact.GuestLanguage(), ID: now.Customer}); err != nil {
		return err
	}
	if transition.VoidsClaimLinks() {
		if err := (accounts{q}).DeleteUnusedLinks(ctx, now.Customer, linkClaim); err != nil {
			return err
		}
	}
	if transition.GuestRegistrant == nil {
		return q.DeleteRegistrant(ctx, now.Customer)
	}
	return putGuestRegistrant(ctx, q, now.Customer, *transition.GuestRegistrant, now.UpdatedAt)
}

// deleteGuest deletes a guest account that no row references any more.
func deleteGuest(ctx context.Context, q *query.Queries, id string) error {
	if err := deleteClaimMails(ctx, q, id); err != nil {
		return err
	}
	return inOrder(ctx, id, q.DeleteLinksOfCustomer, q.DeleteRegistrant, q.DeleteIdentity, q.DeleteGuest)
}

// IsAgentLinked reports whether a live agent may act for a customer with an open account.
func (db *DB) IsAgentLinked(ctx context.Context, customerID, agent string) (bool, error) {
	_, err := db.read().GetLiveAgentLink(ctx, customerID, agent)
	return found(err)
}

// LinkedCustomer returns the customer with an address, if the agent may act for them.
func (db *DB) LinkedCustomer(ctx context.Context, agent, email string) (string, bool, error) {
	return foundValue(db.read().GetLinkedCustomerID(ctx, emailKey(email), agent))
}

// linkClaim is the kind of claim links.
const linkClaim = account.LinkKind(registrar.MailClaim)

// ClaimableOrder returns the newest order of the guest account that a link is for.
func (db *DB) ClaimableOrder(ctx context.Context, link registrar.SecretHash, now time.Time) (order.Order, bool, error) {
	known, ok, err := accounts{db.read()}.GetLink(ctx, link, linkClaim, now)
	if err != nil || !ok {
		return order.Order{}, false, err
	}
	orders, err := db.ListOrders(ctx, known.Customer, "", 1)
	if err != nil || len(orders) == 0 {
		return order.Order{}, false, err
	}
	return orders[0], true, nil
}

// ClaimGuestOrders moves everything that belongs to the guest account of a link to a customer.
func (db *DB) ClaimGuestOrders(ctx context.Context, link registrar.SecretHash, to string, now time.Time, event registrar.AuditEvent, admit order.Admission) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		known, ok, err := accounts{q}.GetLink(ctx, link, linkClaim, now)
		if err != nil {
			return err
		}
		if !ok {
			return errConflict
		}
		if _, err := q.GetGuestID(ctx, known.Customer); err != nil {
			_, err = found(err)
			return cmp.Or(err, errConflict)
		}
		if err := rowOr(noSuchCustomer())(q.LockClaimingCustomer(ctx, to)); err != nil {
			return err
		}
		if err := checkClaimer(ctx, q, known.Customer, to, admit); err != nil {
			return err
		}
		if err := freezeRegistrants(ctx, q, known.Customer); err != nil {
			return err
		}
		if err := reassignGuestData(ctx, q, known.Customer, to); err != nil {
			return err
		}
		if _, err := confirmAddress(ctx, q, claimedAddress(known, to, event)); err != nil {
			return err
		}
		if _, ok, err = (accounts{q}).UseLink(ctx, link, linkClaim, now); err != nil || !ok {
			return cmp.Or(err, errConflict) // claimed concurrently
		}
		if err := deleteGuest(ctx, q, known.Customer); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

// checkClaimer checks whether the account's registrant may hold the guest's domains.
func checkClaimer(ctx context.Context, q *query.Queries, guest, to string, admit order.Admission) error {
	tlds, err := q.ListCustomerTLDs(ctx, guest)
	if err != nil {
		return err
	}
	row, err := q.GetRegistrantWithEmail(ctx, to)
	if _, err := found(err); err != nil {
		return err
	}
	verified, err := accounts{q}.VerifiedName(ctx, to)
	if err != nil {
		return err
	}
	return admit(tlds, registrantOfRow(row), verified)
}

// reassignGuestData moves all rows of a guest account. To avoid deadlocks on PostgreSQL it
// locks rows in the same order as the transactions that update domain changes, provision
// items, orders and mails. The second query finds provision items that an order got while
// its row was waited for.
func reassignGuestData(ctx context.Context, q *query.Queries, from, to string) error {
	type reassign = func(ctx context.Context, to, from string) error
	lockOrders := func(ctx context.Context, _, from string) error { return q.LockOrdersOfCustomer(ctx, from) }
	for _, step := range []reassign{
		q.ReassignDomainChanges, q.ReassignDomainLocks, q.ReassignProvisionItems, q.ReassignDomains,
		q.ReassignTermEnds, q.ReassignSentNotices, q.ReassignOutgoingTransfers, q.ReassignContactChecks,
		lockOrders, q.ReassignProvisionItems, q.ReassignDomains, q.ReassignPayments, q.ReassignOrders, q.ReassignRegistrant,
	} {
		if err := step(ctx, to, from); err != nil {
			return err
		}
	}
	return deleteClaimMails(ctx, q, from)
}

// deleteClaimMails deletes queued mails that would create a claim link when sent.
func deleteClaimMails(ctx context.Context, q *query.Queries, guest string) error {
	return q.DeleteUnsentMails(ctx, guest, string(linkClaim))
}

// deleteStaleGuests deletes guest accounts without a payment attempt, with their orders.
func (a accounts) deleteStaleGuests(ctx context.Context, madeBefore time.Time, limit int) (int, error) {
	ids, err := a.q.ListStaleGuestIDs(ctx, micros(madeBefore), int32(limit))
	if err != nil {
		return 0, err
	}
	for i, id := range ids {
		err := inOrder(ctx, id, a.q.DeleteWebhookDeliveriesOfGuest, a.q.DeleteOrderItemsOfGuest,
			a.q.DeleteOrdersOfGuest, a.q.DeleteAuditEventsOfCustomer)
		if err != nil {
			return i, err
		}
		if err := deleteGuest(ctx, a.q, id); err != nil {
			return i, err
		}
	}
	return len(ids), nil
}
