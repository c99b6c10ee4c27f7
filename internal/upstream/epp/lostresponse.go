package epp

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// PriorAttempt describes a command that the caller may have sent before, possibly
// before a restart.
type PriorAttempt struct {
	// Sent means that the command may have been sent, so the registry is queried
	// first.
	Sent bool
	// Since is when the intent was stored, in the registry's time. An older object
	// was not created by this command.
	Since time.Time
}

const (
	// maxSends limits how often a lost command is sent per call.
	maxSends = 3
	// resendDelay is the first delay between two sends; the second is twice as
	// long.
	resendDelay = 200 * time.Millisecond
	// clockSkew is the tolerated difference between the registry's clock and ours.
	clockSkew = 5 * time.Minute
)

// ambiguousCodes are refusals that warrant a query: unspecific ones, and those that
// an unnoticed first success causes.
var ambiguousCodes = map[int]bool{CodeFailed: true, CodeFailedClosing: true, CodePendingTransfer: true}

// sendOrFind sends a command until it is known to have been executed or refused.
// find queries the registry: true means executed, false means no trace, and a
// conflict means that the object belongs to another registrar or order.
func sendOrFind[T any](ctx context.Context, host string, sent bool,
	send func(context.Context) (T, error), find func(context.Context) (T, bool, error),
) (got T, found bool, err error) {
	if sent {
		if got, found, err = find(ctx); err != nil || found {
			return got, found, asOutcomeUnknown(host, err)
		}
	}
	for try := 1; ; try++ {
		got, err = send(ctx)
		if err == nil {
			return got, false, nil
		}
		lost, code := errors.Is(err, ErrOutcomeUnknown), ResultCode(err)
		if !lost && !ambiguousCodes[code] && (!sent || code == 0) {
			return got, false, err
		}
		sent = sent || lost
		seen, found, queryErr := find(ctx)
		switch {
		case found:
			return seen, true, nil
		case queryErr != nil && sent:
			return got, false, asOutcomeUnknown(host, queryErr)
		case queryErr != nil || !lost || try >= maxSends:
			return got, false, err
		}
		select {
		case <-time.After(time.Duration(try) * resendDelay):
		case <-ctx.Done():
			return got, false, outcomeUnknown(host, ctx.Err())
		}
	}
}

// asOutcomeUnknown converts the error of a query made because a command may have
// been sent. A conflict is definite and passes unchanged.
func asOutcomeUnknown(host string, err error) error {
	if err == nil || errors.Is(err, &registrar.Error{Kind: registrar.KindConflict}) {
		return err
	}
	return outcomeUnknown(host, err)
}

func existsElsewhere(host string, cause error) error {
	return &registrar.Error{Kind: registrar.KindConflict, Code: ResultExists, Detail: host + ": the object belongs to another registrar or order", Err: cause}
}

// CreateOrFind registers a name and queries the registry before it sends the
// command again. found means that an earlier attempt succeeded. A conflict with
// code ResultExists is final: another registrar or another of our orders has the
// name.
func (c *Client) CreateOrFind(ctx context.Context, q CreateDomain, earlier PriorAttempt) (created DomainCreated, found bool, err error) {
	if q.ClTRID == "" {
		q.ClTRID = newTRID(c.account.Now()) // the same for every attempt
	}
	if earlier.Since.IsZero() {
		earlier.Since = c.account.Now()
	}
	find := func(ctx context.Context) (DomainCreated, bool, error) {
		info, err := c.InfoDomain(ctx, InfoDomain{Name: q.Name})
		switch {
		case ResultCode(err) == CodeMissing:
			return DomainCreated{}, false, nil
		case ResultCode(err) == CodeAuthorization: // it exists, and the registry hides it from us
			return DomainCreated{}, false, existsElsewhere(c.Host(), err)
		case err != nil:
			return DomainCreated{}, false, err
		case !wasCreatedBy(&info, &q, c.ClientID(), earlier.Since):
			return DomainCreated{}, false, existsElsewhere(c.Host(), nil)
		}
		receipt := info.Receipt
		receipt.ClTRID = q.ClTRID
		if info.Has("pendingCreate") {
			receipt.Code = CodePending
		}
		return DomainCreated{Receipt: receipt, Name: info.Name, Created: info.Created, Expires: info.Expires}, true, nil
	}
	return sendOrFind(ctx, c.Host(), earlier.Sent,
		func(ctx context.Context) (DomainCreated, error) { return c.CreateDomain(ctx, q) }, find)
}

// wasCreatedBy reports whether a domain was created by this command. The sponsor
// alone proves nothing, since two customers may order the same name at once. The
// auth code or registrant handle of this command proves it; where the registry
// shows neither, the creation time decides.
func wasCreatedBy(info *DomainInfo, q *CreateDomain, clientID string, since time.Time) bool {
	if !strings.EqualFold(info.Sponsor, clientID) || info.Creator != "" && !strings.EqualFold(info.Creator, clientID) {
		return false
	}
	if q.AuthInfo != "" && info.AuthInfo != "" && !isMasked(info.AuthInfo) {
		return info.AuthInfo == q.AuthInfo
	}
	if q.Registrant != "" && info.Registrant != "" {
		return strings.EqualFold(info.Registrant, q.Registrant)
	}
	return !info.Created.IsZero() && !info.Created.Before(since.Add(-clockSkew))
}

// isMasked reports whether the registry hides the auth code behind asterisks or the
// like.
func isMasked(secret string) bool {
	return strings.Trim(secret, secret[:1]) == ""
}

// RenewOrFind extends a registration and checks whether the expiry has moved before
// it sends the command again.
func (c *Client) RenewOrFind(ctx context.Context, q RenewDomain, earlier PriorAttempt) (renewed DomainRenewed, found bool, err error) {
	wanted := minRenewedExpiry(q.Expires, q.Years)
	find := func(ctx context.Context) (DomainRenewed, bool, error) {
		info, err := c.InfoDomain(ctx, InfoDomain{Name: q.Name})
		switch code := ResultCode(err); {
		case code == CodeMissing || code == CodeAuthorization:
			return DomainRenewed{}, false, nil // the renewal itself reports why
		case err != nil:
			return DomainRenewed{}, false, err
		}
		return DomainRenewed{Receipt: info.Receipt, Expires: info.Expires}, !info.Expires.Before(wanted), nil
	}
	return sendOrFind(ctx, c.Host(), earlier.Sent,
		func(ctx context.Context) (DomainRenewed, error) { return c.RenewDomain(ctx, q) }, find)
}

// minRenewedExpiry is the earliest expiry after a renewal, less a day: registries
// differ about leap years and the time of day.
func minRenewedExpiry(from time.Time, years int) time.Time {
	return from.UTC().AddDate(max(1, years), 0, -1)
}

// TransferOrFind requests a transfer and looks for our own request before it sends
// the command again.
func (c *Client) TransferOrFind(ctx context.Context, q TransferDomain, earlier PriorAttempt) (transfer Transfer, found bool, err error) {
	q.Op = TransferRequest
	find := func(ctx context.Context) (Transfer, bool, error) {
		state, err := c.TransferDomain(ctx, TransferDomain{Op: TransferQuery, Name: q.Name, AuthInfo: q.AuthInfo})
		if err == nil && strings.EqualFold(state.Requester, c.ClientID()) {
			switch state.Status {
			case TransferPending:
				state.Code = CodePending
				return state, true, nil
			case TransferClientApproved, TransferServerApproved:
				return state, true, nil
			}
		}
		if err != nil && ResultCode(err) == 0 {
			return Transfer{}, false, err
		}
		return c.findTransferred(ctx, q)
	}
	return sendOrFind(ctx, c.Host(), earlier.Sent,
		func(ctx context.Context) (Transfer, error) { return c.TransferDomain(ctx, q) }, find)
}

// findTransferred handles registries without a pending phase, which have no
// transfer to query: the domain is either ours or not.
func (c *Client) findTransferred(ctx context.Context, q TransferDomain) (Transfer, bool, error) {
	info, err := c.InfoDomain(ctx, InfoDomain{Name: q.Name, AuthInfo: q.AuthInfo})
	switch code := ResultCode(err); {
	case code == CodeMissing || code == CodeAuthorization || code == CodeAuthInfo: // hidden from us, so not ours
		return Transfer{}, false, nil
	case err != nil: // a failing registry (2400, 2502) says nothing about the sponsor
		return Transfer{}, false, err
	case !strings.EqualFold(info.Sponsor, c.ClientID()):
		return Transfer{}, false, nil
	}
	return Transfer{
		Receipt: info.Receipt, Name: info.Name, Status: TransferServerApproved,
		Requester: c.ClientID(), Expires: info.Expires,
	}, true, nil
}

// CreateContactOrFind creates a contact. An existing id in our account counts as
// ours, since the caller chose it for this purpose. Gateways that choose ids
// themselves can't be queried; there a lost response may leave an unused contact.
func (c *Client) CreateContactOrFind(ctx context.Context, q CreateContact, earlier PriorAttempt) (created ContactCreated, found bool, err error) {
	find := func(ctx context.Context) (ContactCreated, bool, error) {
		info, err := c.InfoContact(ctx, InfoContact{ID: q.ID})
		switch {
		case ResultCode(err) == CodeMissing:
			return ContactCreated{}, false, nil
		case ResultCode(err) == CodeAuthorization || err == nil && !strings.EqualFold(info.Sponsor, c.ClientID()):
			return ContactCreated{}, false, existsElsewhere(c.Host(), err)
		case err != nil:
			return ContactCreated{}, false, err
		}
		return ContactCreated{Receipt: info.Receipt, ID: info.ID, Created: info.Created}, true, nil
	}
	return sendOrFind(ctx, c.Host(), earlier.Sent,
		func(ctx context.Context) (ContactCreated, error) { return c.CreateContact(ctx, q) }, find)
}

// EnsureHost creates a host object unless it exists. After a lost response, the
// next attempt finds it.
func (c *Client) EnsureHost(ctx context.Context, q CreateHost) error {
	for try := 1; ; try++ {
		_, err := c.CreateHost(ctx, q)
		switch {
		case err == nil || ResultCode(err) == CodeExists:
			return nil
		case !errors.Is(err, ErrOutcomeUnknown) || try >= maxSends || ctx.Err() != nil:
			return err
		}
	}
}
