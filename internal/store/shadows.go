package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// shadowKey is what a shadow account has where others have their address: nobody can
// type it in.
func shadowKey(orderID string) string { return "unclaimed:" + orderID }

// contactJSON is a contact as it is stored.
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

func contactText(contact order.Contact) string {
	if contact == (order.Contact{}) {
		return ""
	}
	text, _ := json.Marshal(contactJSON(contact)) // strings can always be written
	return string(text)
}

func contactOf(text string) order.Contact {
	var contact contactJSON
	if text != "" {
		_ = json.Unmarshal([]byte(text), &contact) // what can't be read was not told
	}
	return order.Contact(contact)
}

// AddSession stores an agent's order, with a shadow account if nobody claims it.
// Those who race for an agent's last places may get one each.
func (db *DB) AddSession(ctx context.Context, wanted order.Order, fitted *order.Contact, most, mostOfCustomer int, deed registrar.Deed) error {
	tooMany := &registrar.Error{Kind: registrar.KindConflict, Code: order.TooManyOpen}
	return db.write(ctx, func(q *query.Queries) error {
		open, err := q.CountOpenSessions(ctx, wanted.Agent)
		if err != nil {
			return err
		}
		if open >= int64(most) {
			return tooMany
		}
		if err := ownerOf(ctx, q, wanted, fitted, mostOfCustomer, tooMany); err != nil {
			return err
		}
		wanted.Email, wanted.Version = emailKey(wanted.Email), firstVersion
		if err := insertOrder(ctx, q, wanted); err != nil {
			return err
		}
		return recordDeed(ctx, q, deed)
	})
}

// ownerOf makes the shadow account of a new session, or sees that its customer has
// not too many orders open.
func ownerOf(ctx context.Context, q *query.Queries, wanted order.Order, fitted *order.Contact, most int, tooMany error) error {
	if !wanted.Claimed {
		language := wanted.Contact.Language
		if language == "" {
			language = "de"
		}
		if err := q.InsertShadow(ctx, query.InsertShadowParams{
			ID: wanted.Customer, Email: wanted.Contact.Email, EmailKey: shadowKey(wanted.ID), UserHandle: shadowKey(wanted.ID),
			Language: language, CreatedAt: micros(wanted.CreatedAt), ConfirmedAt: micros(wanted.CreatedAt),
		}); err != nil || fitted == nil {
			return err
		}
		return putFitted(ctx, q, wanted.Customer, *fitted, wanted.CreatedAt)
	}
	held, err := q.HoldBuyer(ctx, wanted.Customer)
	if err != nil {
		return err
	}
	if held == 0 {
		return &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchCustomer}
	}
	open, err := q.CountOpenOrders(ctx, wanted.Customer)
	if err == nil && open >= int64(most) {
		err = tooMany
	}
	return err
}

func putFitted(ctx context.Context, q *query.Queries, id string, fitted order.Contact, now time.Time) error {
	kind := customer.Person
	if fitted.Organisation != "" {
		kind = customer.Company
	}
	return accounts{q}.PutRegistrant(ctx, id, customer.Registrant{
		Kind: kind, Name: fitted.Name(), Organisation: fitted.Organisation, Street: fitted.Street, PostalCode: fitted.PostalCode,
		City: fitted.City, State: fitted.State, Country: fitted.Country, Phone: fitted.Phone, VATID: fitted.VATID, UpdatedAt: now,
	})
}

// moveBuyer writes what an agent has told anew of a buyer without an account, or lets
// the account go because a customer has taken its place.
func moveBuyer(ctx context.Context, q *query.Queries, move order.Move) error {
	was, now := move.Was, move.Order
	switch {
	case was.Claimed:
		return nil
	case now.Claimed:
		if err := q.GivePaymentsOfOrder(ctx, query.GivePaymentsOfOrderParams{CustomerID: now.Customer, OrderID: now.ID}); err != nil {
			return err
		}
		return dropShadow(ctx, q, was.Customer)
	case was.Contact == now.Contact:
		return nil
	}
	language := now.Contact.Language
	if language == "" {
		language = "de"
	}
	if _, err := q.ChangeShadow(ctx, query.ChangeShadowParams{Email: now.Contact.Email, Language: language, ID: now.Customer}); err != nil {
		return err
	}
	if emailKey(was.Contact.Email) != emailKey(now.Contact.Email) {
		// The link that was mailed to the former address would give the order, and the
		// buyer's data with it, to whoever reads mail there.
		if err := (accounts{q}).VoidLinks(ctx, now.Customer, linkClaim); err != nil {
			return err
		}
	}
	if move.Fitted == nil {
		return q.DeleteRegistrant(ctx, now.Customer)
	}
	return putFitted(ctx, q, now.Customer, *move.Fitted, now.UpdatedAt)
}

// dropShadow deletes an account that nothing hangs on any more.
func dropShadow(ctx context.Context, q *query.Queries, id string) error {
	if err := dropClaimLetters(ctx, q, id); err != nil {
		return err
	}
	for _, drop := range []func(context.Context, string) error{q.DeleteLinksOf, q.DeleteRegistrant, q.DeleteIdentityOf} {
		if err := drop(ctx, id); err != nil {
			return err
		}
	}
	_, err := q.DeleteShadow(ctx, id)
	return err
}

// HasLinked says that a customer whose account is open lets a live agent act for them.
func (db *DB) HasLinked(ctx context.Context, customerID, agent string) (bool, error) {
	if neverStored(customerID) || neverStored(agent) {
		return false, nil
	}
	_, err := db.read().LinkOfAgent(ctx, query.LinkOfAgentParams{CustomerID: customerID, AgentID: agent})
	return found(err)
}

// LinkedCustomer is the one with an address who lets an agent act for them.
func (db *DB) LinkedCustomer(ctx context.Context, agent, email string) (string, bool, error) {
	if neverStored(email) {
		return "", false, nil
	}
	id, err := db.read().LinkedCustomer(ctx, query.LinkedCustomerParams{EmailKey: emailKey(email), AgentID: agent})
	ok, err := found(err)
	return id, ok, err
}

// linkClaim is the kind of the links in such letters.
const linkClaim = customer.LinkKind(registrar.LetterClaim)

// ClaimableBy is the newest order of the shadow account that a link is for.
func (db *DB) ClaimableBy(ctx context.Context, link registrar.SecretHash, now time.Time) (order.Order, bool, error) {
	q := db.read()
	known, ok, err := accounts{q}.Link(ctx, link, linkClaim, now)
	if err != nil || !ok {
		return order.Order{}, false, err
	}
	rows, err := q.OrdersBefore(ctx, query.OrdersBeforeParams{CustomerID: known.Customer, ID: lastOrder, Limit: 1})
	if err != nil || len(rows) == 0 {
		return order.Order{}, false, err
	}
	whole, err := wholeOrder(ctx, q, rows[0])
	return whole, err == nil, err
}

// Claim gives all that hangs on the shadow account of a link to a customer.
func (db *DB) Claim(ctx context.Context, link registrar.SecretHash, to string, now time.Time, deed registrar.Deed, admit order.Admission) (bool, error) {
	claimed := false
	err := db.write(ctx, func(q *query.Queries) error {
		known, ok, err := accounts{q}.Link(ctx, link, linkClaim, now)
		if err != nil || !ok {
			return err
		}
		if _, err := q.ShadowExists(ctx, known.Customer); err != nil {
			_, err = found(err)
			return err
		}
		held, err := q.HoldClaimer(ctx, to)
		if err != nil {
			return err
		}
		if held == 0 {
			return &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchCustomer}
		}
		if err := admitClaimer(ctx, q, known.Customer, to, admit); err != nil {
			return err
		}
		if err := give(ctx, q, known.Customer, to); err != nil {
			return err
		}
		if _, ok, err = (accounts{q}).UseLink(ctx, link, linkClaim, now); err != nil {
			return err
		}
		if !ok {
			return errMoved // another was faster with it
		}
		claimed = true
		if err := dropShadow(ctx, q, known.Customer); err != nil {
			return err
		}
		return recordDeed(ctx, q, deed)
	})
	if errors.Is(err, errMoved) {
		return false, nil
	}
	return claimed && err == nil, err
}

// admitClaimer asks whether the registrant of the account may hold what the shadow
// account holds, has paid or is paying.
func admitClaimer(ctx context.Context, q *query.Queries, shadow, to string, admit order.Admission) error {
	tlds, err := q.ExtensionsOf(ctx, shadow)
	if err != nil {
		return err
	}
	row, err := q.HolderOf(ctx, to)
	if _, err := found(err); err != nil {
		return err
	}
	verified, err := accounts{q}.VerifiedName(ctx, to)
	if err != nil {
		return err
	}
	return admit(tlds, holderRow(row), verified)
}

// give moves everything from a shadow account. On PostgreSQL it takes rows in the
// order in which those take them who carry out a change or a line, change an order or
// send a letter: otherwise each could wait for what the other has. A line that an order got
// while its row was waited for is found by the second look.
func give(ctx context.Context, q *query.Queries, from, to string) error {
	lines := func() error { return q.GiveLines(ctx, query.GiveLinesParams{CustomerID: to, Shadow: from}) }
	domains := func() error { return q.GiveDomains(ctx, query.GiveDomainsParams{CustomerID: to, Shadow: from}) }
	for _, move := range []func() error{
		func() error { return q.GiveChanges(ctx, query.GiveChangesParams{CustomerID: to, Shadow: from}) },
		func() error { return q.GiveDomainLocks(ctx, query.GiveDomainLocksParams{CustomerID: to, Shadow: from}) },
		lines,
		domains,
		func() error { return q.HoldOrdersOf(ctx, from) },
		lines,
		domains,
		func() error { return q.GivePayments(ctx, query.GivePaymentsParams{CustomerID: to, Shadow: from}) },
		func() error { return q.GiveOrders(ctx, query.GiveOrdersParams{CustomerID: to, Shadow: from}) },
		func() error { return q.GiveRegistrant(ctx, query.GiveRegistrantParams{CustomerID: to, Shadow: from}) },
		func() error { return dropClaimLetters(ctx, q, from) },
	} {
		if err := move(); err != nil {
			return err
		}
	}
	return nil
}

// dropClaimLetters drops the letters that would make a link when they are sent.
func dropClaimLetters(ctx context.Context, q *query.Queries, shadow string) error {
	return q.DeleteUnsentLetters(ctx, query.DeleteUnsentLettersParams{CustomerID: shadow, Kind: string(linkClaim)})
}

// deleteShadows deletes the accounts of buyers who never tried to pay, with their orders.
func (a accounts) deleteShadows(ctx context.Context, madeBefore time.Time, limit int) (int, error) {
	ids, err := a.q.StaleShadows(ctx, query.StaleShadowsParams{CreatedAt: micros(madeBefore), Most: int32(limit)})
	if err != nil {
		return 0, err
	}
	for i, id := range ids {
		for _, drop := range []func(context.Context, string) error{
			a.q.DeleteEventsOfShadow, a.q.DeleteItemsOfShadow, a.q.DeleteOrdersOfShadow, a.q.DeleteDeedsOf,
		} {
			if err := drop(ctx, id); err != nil {
				return i, err
			}
		}
		if err := dropShadow(ctx, a.q, id); err != nil {
			return i, err
		}
	}
	return len(ids), nil
}
