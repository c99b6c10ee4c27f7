package epp

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

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
// sent means that it may have been sent before, possibly before a restart, so the
// registry is queried first. find queries the registry: true means executed, false
// means no trace, and a conflict means that the object belongs to another registrar
// or order.
func sendOrFind[T any](
	ctx context.Context, host string, sent bool, send func() (T, error), find func() (T, bool, error),
) (T, error) {
	if sent {
		if got, found, err := find(); err != nil || found {
			return got, asOutcomeUnknown(host, err)
		}
	}
	for try := 1; ; try++ {
		got, err := send()
		if err == nil {
			return got, nil
		}
		lost, code := errors.Is(err, ErrOutcomeUnknown), ResultCode(err)
		if !lost && !ambiguousCodes[code] && (!sent || code == 0) {
			return got, err
		}
		sent = sent || lost
		seen, found, queryErr := find()
		switch {
		case found:
			return seen, nil
		case queryErr != nil && sent:
			return got, asOutcomeUnknown(host, queryErr)
		case queryErr != nil || !lost || try >= maxSends:
			return got, err
		}
		select {
		case <-time.After(time.Duration(try) * resendDelay):
		case <-ctx.Done():
			return got, outcomeUnknown(host, ctx.Err())
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
	return &registrar.Error{Kind: registrar.KindConflict, Code: registrar.EPPExists, Detail: host + ": the object belongs to another registrar or order", Err: cause}
}

// CreateOrFind registers a name and queries the registry before it sends the
// command again. since is when the intent was stored, in the registry's time: an
// older domain was not created by this command. A conflict with code EPPExists is
// final: another registrar or another of our orders has the name.
func (c *Client) CreateOrFind(ctx context.Context, q CreateDomain, sent bool, since time.Time) (provision.Outcome, error) {
	send := func() (provision.Outcome, error) { return c.CreateDomain(ctx, q) }
	return sendOrFind(ctx, c.Host(), sent, send, func() (provision.Outcome, bool, error) {
		info, err := c.InfoDomain(ctx, InfoDomain{Name: q.Name})
		switch {
		case ResultCode(err) == CodeMissing:
			return provision.Outcome{}, false, nil
		case ResultCode(err) == CodeAuthorization: // it exists, and the registry hides it from us
			return provision.Outcome{}, false, existsElsewhere(c.Host(), err)
		case err != nil:
			return provision.Outcome{}, false, err
		case !wasCreatedBy(&info, &q, c.ClientID(), since):
			return provision.Outcome{}, false, existsElsewhere(c.Host(), nil)
		}
		return provision.Outcome{Pending: info.Has("pendingCreate"), Expires: info.Expires}, true, nil
	})
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
func (c *Client) RenewOrFind(ctx context.Context, q RenewDomain, sent bool) (provision.Outcome, error) {
	send := func() (provision.Outcome, error) { return c.RenewDomain(ctx, q) }
	return sendOrFind(ctx, c.Host(), sent, send, func() (provision.Outcome, bool, error) {
		info, err := c.InfoDomain(ctx, InfoDomain{Name: q.Name})
		switch code := ResultCode(err); {
		case code == CodeMissing || code == CodeAuthorization:
			return provision.Outcome{}, false, nil // the renewal itself reports why
		case err != nil:
			return provision.Outcome{}, false, err
		}
		return provision.Outcome{Expires: info.Expires}, !info.Expires.Before(minRenewedExpiry(q.Expires, q.Years)), nil
	})
}

// minRenewedExpiry is the earliest expiry after a renewal, less a day: registries
// differ about leap years and the time of day.
func minRenewedExpiry(from time.Time, years int) time.Time {
	return from.UTC().AddDate(max(1, years), 0, -1)
}

// TransferOrFind requests a transfer and looks for our own request before it sends
// the command again.
func (c *Client) TransferOrFind(ctx context.Context, q TransferDomain, sent bool) (Transfer, error) {
	q.Op = TransferRequest
	send := func() (Transfer, error) { return c.TransferDomain(ctx, q) }
	return sendOrFind(ctx, c.Host(), sent, send, func() (Transfer, bool, error) {
		state, err := c.TransferDomain(ctx, TransferDomain{Op: TransferQuery, Name: q.Name, AuthInfo: q.AuthInfo})
		if err != nil && ResultCode(err) == 0 {
			return Transfer{}, false, err
		}
		if err == nil && strings.EqualFold(state.Requester, c.ClientID()) {
			switch state.Status {
			case TransferPending, TransferClientApproved, TransferServerApproved:
				return state, true, nil
			}
		}
		_, sponsored, err := c.findTransferred(ctx, q)
		return Transfer{Status: TransferServerApproved}, sponsored, err
	})
}

// findTransferred handles registries without a pending phase, which have no
// transfer to query: the domain is either ours or not.
func (c *Client) findTransferred(ctx context.Context, q TransferDomain) (info DomainInfo, sponsored bool, err error) {
	info, err = c.InfoDomain(ctx, InfoDomain{Name: q.Name, AuthInfo: q.AuthInfo})
	switch ResultCode(err) {
	case CodeMissing, CodeAuthorization, CodeAuthInfo: // hidden from us, so not ours
		return info, false, nil
	}
	// A failing registry (2400, 2502) says nothing about the sponsor.
	return info, err == nil && strings.EqualFold(info.Sponsor, c.ClientID()), err
}

// CreateContactOrFind creates a contact and returns its id. An existing id in our
// account counts as ours, since the caller chose it for this purpose. Gateways that
// choose ids themselves can't be queried; there a lost response may leave an unused
// contact.
func (c *Client) CreateContactOrFind(ctx context.Context, q CreateContact, sent bool) (id string, err error) {
	send := func() (string, error) { return c.CreateContact(ctx, q) }
	return sendOrFind(ctx, c.Host(), sent, send, func() (string, bool, error) {
		id, sponsor, err := c.InfoContact(ctx, q.ID)
		switch {
		case ResultCode(err) == CodeMissing:
			return "", false, nil
		case ResultCode(err) == CodeAuthorization || err == nil && !strings.EqualFold(sponsor, c.ClientID()):
			return "", false, existsElsewhere(c.Host(), err)
		}
		return id, err == nil, err
	})
}

// EnsureHost creates a host object unless it exists. After a lost response, the
// next attempt finds it.
func (c *Client) EnsureHost(ctx context.Context, q CreateHost) error {
	for try := 1; ; try++ {
		err := c.createHost(ctx, q)
		switch {
		case err == nil || ResultCode(err) == CodeExists:
			return nil
		case !errors.Is(err, ErrOutcomeUnknown) || try >= maxSends || ctx.Err() != nil:
			return err
		}
	}
}
