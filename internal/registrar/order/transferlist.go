package order

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// MaxListedTransfers bounds a customer's list of transfers.
	MaxListedTransfers = 300
	// transferListTTL is how long a list is stored after its last change.
	transferListTTL = 14 * 24 * time.Hour
)

// ListedTransfer is a transfer that a customer has entered and not ordered yet.
type ListedTransfer struct {
	Name, TLD string // an A-label and its extension
	Code      string // empty if it is missing or was wrong
	OK        bool   // the registry has accepted it
	// Reason is what the last check found wrong, as a key of the page's texts.
	Reason string
	// Impossible means that the customer can't do anything about the reason.
	Impossible bool `json:",omitempty"`
	// Later means that nothing is wrong but that an order has no room for it.
	Later bool `json:",omitempty"`
	// Net and Gross are the price of an accepted one when it was checked.
	Net, Gross registrar.Cents
}

// DomainName returns the parsed name.
func (t ListedTransfer) DomainName() registrar.Name {
	return registrar.NewName(strings.TrimSuffix(t.Name, t.TLD), t.TLD)
}

// ListedCounts counts the domains of a list of transfers. Every page that counts them uses these,
// so that their figures can be compared.
type ListedCounts struct {
	Ready      int // accepted by the registry
	Correct    int // the customer has to correct or check them
	Impossible int
	Later      int // complete, but an order has no room for them
}

// CountListed counts the domains of a list.
func CountListed(list []ListedTransfer) (counts ListedCounts) {
	for _, line := range list {
		switch {
		case line.OK:
			counts.Ready++
		case line.Impossible:
			counts.Impossible++
		case line.Later:
			counts.Later++
		default:
			counts.Correct++
		}
	}
	return counts
}

// Waiting is the number of domains that the customer can order or correct.
func (c ListedCounts) Waiting() int { return c.Ready + c.Correct + c.Later }

// TransferList returns the transfers that the actor's account has entered and not ordered yet, but for
// those of domains that it holds or is getting by now: another order had them, too.
func (s *Service) TransferList(ctx context.Context, actor registrar.Actor) ([]ListedTransfer, error) {
	list, _, err := s.readTransferList(ctx, actor)
	return list, err
}

func (s *Service) readTransferList(ctx context.Context, actor registrar.Actor) (list []ListedTransfer, sealed string, err error) {
	if actor.Customer == "" {
		return nil, "", fail(registrar.KindUnauthenticated, registrar.SignInFirst)
	}
	if sealed, err = s.cfg.Store.GetTransferList(ctx, actor.Customer, s.now()); err != nil || sealed == "" {
		return nil, sealed, err
	}
	// After the loss of a key the list is empty, and can be entered again.
	if text, err := s.cfg.Seal.Open(registrar.TransferListPurpose(actor.Customer), sealed); err != nil || json.Unmarshal([]byte(text), &list) != nil {
		return nil, sealed, nil //nolint:nilerr // the list is entered again
	}
	acquired, err := s.cfg.Store.ListAcquiredNames(ctx, actor.Customer, listedNames(list))
	list = slices.DeleteFunc(list, func(line ListedTransfer) bool { return slices.Contains(acquired, line.Name) })
	return list, sealed, err
}

func listedNames(list []ListedTransfer) []string {
	names := make([]string, len(list))
	for i, line := range list {
		names[i] = line.Name
	}
	return names
}

// ReplaceTransfers removes the named transfers from the account's list and adds others. Lines
// that another window has added meanwhile stay. It returns TransferListFull, and changes nothing,
// if the list would be too long.
func (s *Service) ReplaceTransfers(ctx context.Context, actor registrar.Actor, remove []string, add []ListedTransfer) error {
	for range maxAttempts {
		list, seen, err := s.readTransferList(ctx, actor)
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(line ListedTransfer) bool {
			return slices.Contains(remove, line.Name) || slices.ContainsFunc(add, func(other ListedTransfer) bool { return other.Name == line.Name })
		})
		list = append(list, add...)
		switch {
		case len(list) > MaxListedTransfers:
			return fail(registrar.KindConflict, TransferListFull)
		case len(list) == 0 && seen == "":
			return nil
		}
		text, err := json.Marshal(list)
		if err != nil {
			return err
		}
		now := s.now()
		sealed := s.cfg.Seal.Seal(registrar.TransferListPurpose(actor.Customer), string(text))
		replaced, err := s.cfg.Store.ReplaceTransferList(ctx, actor.Customer, seen, strings.Join(listedNames(list), " "), sealed, now, now.Add(transferListTTL))
		if err != nil || replaced {
			return err
		}
	}
	return errBusy()
}

// relistTransfers puts the transfers of an unpaid portal order that is about to end back on its
// customer's list, so that thirty auth codes are not entered twice. It runs before the order
// ends, because the order's codes are deleted then; if the order does not end after all, the
// list has lines too many. They are ready, because the registry accepted them for the order, and are
// checked again when they are ordered. A code that can't be opened is left out; if not all fit, none returns.
func (s *Service) relistTransfers(ctx context.Context, o Order) error {
	if o.Channel != ChannelPortal || !o.State.waiting() {
		return nil
	}
	var lines []ListedTransfer
	for _, item := range o.Items {
		if item.Kind != Transfer || item.SealedCode == "" {
			continue
		}
		if code, err := s.cfg.Seal.Open(registrar.AuthCodePurpose(item.Name), item.SealedCode); err == nil {
			lines = append(lines, ListedTransfer{Name: item.Name, TLD: item.TLD, Code: code, OK: true, Net: item.Net, Gross: item.Gross})
		}
	}
	if len(lines) == 0 {
		return nil
	}
	err := s.ReplaceTransfers(ctx, registrar.Actor{Customer: o.Customer}, nil, lines)
	if registrar.CodeOf(err) == TransferListFull {
		return nil
	}
	return err
}
