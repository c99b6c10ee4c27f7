package epp

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// PriorAttempt is what a caller remembers of a command that it may have sent before,
// perhaps in another life of the program.
type PriorAttempt struct {
	// Sent: the command may have been sent already, so the registry is asked
	// before it is sent (again).
	Sent bool
	// Since is when the intent was written down, in the registry's time. What
	// was made earlier than that was not made by this command.
	Since time.Time
}

const (
	// maxSends bounds how often a lost command is sent in one go.
	maxSends = 3
	// resendDelay is the first pause between two; the second is twice as long.
	resendDelay = 200 * time.Millisecond
	// clockSkew is how far the registry's clock and ours may be apart.
	clockSkew = 5 * time.Minute
)

// ambiguousCodes are refusals after which it is worth asking what the registry knows:
// those that say little, and those that an unnoticed first success would cause.
var ambiguousCodes = map[int]bool{CodeFailed: true, CodeFailedClosing: true, CodePendingTransfer: true}

// sendOrFind sends a command until it is known to have been carried out or refused.
// find asks the registry: true means that it was carried out, false that there is
// no trace of it, and a conflict that somebody else's stands in its place.
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
		seen, found, trouble := find(ctx)
		switch {
		case found:
			return seen, true, nil
		case trouble != nil && sent:
			return got, false, asOutcomeUnknown(host, trouble)
		case trouble != nil || !lost || try >= maxSends:
			return got, false, err
		}
		select {
		case <-time.After(time.Duration(try) * resendDelay):
		case <-ctx.Done():
			return got, false, outcomeUnknown(host, ctx.Err())
		}
	}
}

// asOutcomeUnknown is the error of a question that was asked because something may have
// been sent. The registry's clear word, that another's stands there, stays.
func asOutcomeUnknown(host string, err error) error {
	if err == nil || errors.Is(err, &registrar.Error{Kind: registrar.KindConflict}) {
		return err
	}
	return outcomeUnknown(host, err)
}

func existsElsewhere(host string, cause error) error {
	return &registrar.Error{Kind: registrar.KindConflict, Code: ResultExists, Detail: host + ": somebody else has it", Err: cause}
}

// CreateOrFind registers a name, and asks the registry before it sends the
// command again. found says that an earlier try had done it. A conflict of code
// ResultExists is final: somebody else has the name, or another order of ours.
func (c *Client) CreateOrFind(ctx context.Context, q CreateDomain, earlier PriorAttempt) (created DomainCreated, found bool, err error) {
	if q.ClTRID == "" {
		q.ClTRID = newTRID(c.account.Now()) // the same for every try
	}
	if earlier.Since.IsZero() {
		earlier.Since = c.account.Now()
	}
	find := func(ctx context.Context) (DomainCreated, bool, error) {
		info, err := c.InfoDomain(ctx, InfoDomain{Name: q.Name})
		switch {
		case ResultCode(err) == CodeMissing:
			return DomainCreated{}, false, nil
		case ResultCode(err) == CodeAuthorization: // it is there, and not ours to see
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

// wasCreatedBy says whether a domain is the one that a command asked for. The account
// alone proves nothing: two customers may want the same name at once. The secret
// that only this command set proves it, and so does the holder's handle; where
// the registry shows neither, the time must do.
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

// masked: registries that do not tell a secret send asterisks or the like.
func isMasked(secret string) bool {
	return strings.Trim(secret, secret[:1]) == ""
}

// RenewOrFind extends a registration, and asks whether the expiry has moved
// before it sends the command again.
func (c *Client) RenewOrFind(ctx context.Context, q RenewDomain, earlier PriorAttempt) (renewed DomainRenewed, found bool, err error) {
	wanted := minRenewedExpiry(q.Expires, q.Years)
	find := func(ctx context.Context) (DomainRenewed, bool, error) {
		info, err := c.InfoDomain(ctx, InfoDomain{Name: q.Name})
		switch code := ResultCode(err); {
		case code == CodeMissing || code == CodeAuthorization:
			return DomainRenewed{}, false, nil // the renewal itself will be told why
		case err != nil:
			return DomainRenewed{}, false, err
		}
		return DomainRenewed{Receipt: info.Receipt, Expires: info.Expires}, !info.Expires.Before(wanted), nil
	}
	return sendOrFind(ctx, c.Host(), earlier.Sent,
		func(ctx context.Context) (DomainRenewed, error) { return c.RenewDomain(ctx, q) }, find)
}

// minRenewedExpiry is what a domain expires at after a renewal, or a day later: of
// leap years, and of the time of day, registries have views of their own.
func minRenewedExpiry(from time.Time, years int) time.Time {
	return from.UTC().AddDate(max(1, years), 0, -1)
}

// TransferOrFind asks for a transfer, and looks for our own request before it
// sends the command again.
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

// findTransferred is for registries without a pending phase, which have no
// transfer to ask about: the domain is ours already, or it is not.
func (c *Client) findTransferred(ctx context.Context, q TransferDomain) (Transfer, bool, error) {
	info, err := c.InfoDomain(ctx, InfoDomain{Name: q.Name, AuthInfo: q.AuthInfo})
	switch code := ResultCode(err); {
	case code == CodeMissing || code == CodeAuthorization || code == CodeAuthInfo: // not ours to see, so not ours
		return Transfer{}, false, nil
	case err != nil: // a registry in trouble (2400, 2502) has said nothing about whose it is
		return Transfer{}, false, err
	case !strings.EqualFold(info.Sponsor, c.ClientID()):
		return Transfer{}, false, nil
	}
	return Transfer{
		Receipt: info.Receipt, Name: info.Name, Status: TransferServerApproved,
		Requester: c.ClientID(), Expires: info.Expires,
	}, true, nil
}

// CreateContactOrFind makes a contact. An id that exists in our account is taken
// for ours, since the caller chose it for this purpose. Gateways that choose ids
// themselves can't be asked; there a lost answer may leave a contact behind.
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

// EnsureHost makes a nameserver object unless it is there. A lost answer is no
// trouble: the next try finds it.
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
