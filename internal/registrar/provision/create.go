package provision

import (
	"context"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// ManualPayment is the prefix of a payment reference that an operator vouches for.
const ManualPayment = "manual:"

const maxPayment = 100 // characters of a payment reference

// PaidItem is a paid order item before it is stored.
type PaidItem struct {
	Customer  string
	Name      registrar.Name
	Extension registrar.Extension
	Kind      Kind
	Years     int // 0 means the TLD's shortest term; ignored for a transfer
	Payment   string
	Code      string // the auth code of a transfer
}

// CreateItem checks a paid item with its registry and stores it. From then on it ends as a
// provisioned domain or as a failed item marked for a refund. A repeated call with the
// same payment and name returns the stored item.
func (s *Service) CreateItem(ctx context.Context, actor registrar.Actor, paid PaidItem) (Item, error) {
	if err := requireOperatorOrSystem(actor); err != nil {
		return Item{}, err
	}
	ref, manual := strings.CutPrefix(paid.Payment, ManualPayment)
	if ref = strings.TrimSpace(ref); manual {
		paid.Payment = ManualPayment + ref // surrounding spaces don't make it a different payment
	}
	if manual && ref == "" || paid.Payment == "" || len(paid.Payment) > maxPayment {
		return Item{}, &registrar.Error{Kind: registrar.KindInvalid, Code: BadPayment}
	}
	if paid.Kind == Transfer && paid.Code == "" {
		return Item{}, &registrar.Error{Kind: registrar.KindInvalid, Code: CodeMissing}
	}
	quote, registry, err := s.resolveAccount(ctx, QuoteRequest{Customer: paid.Customer, Name: paid.Name, Extension: paid.Extension, Kind: paid.Kind})
	if err != nil {
		return Item{}, err
	}
	if paid.Years == 0 || paid.Kind == Transfer {
		paid.Years = quote.Years
	}
	registrant, found, err := s.cfg.Store.GetRegistrant(ctx, paid.Customer)
	if err != nil {
		return Item{}, err
	}
	if !found && !paid.Kind.ForHeldDomain() {
		return Item{}, &registrar.Error{Kind: registrar.KindConflict, Code: NoRegistrant}
	}
	now := s.cfg.Now()
	item := Item{
		ID: registrar.NewID("prv_", now), Customer: paid.Customer, Name: paid.Name.ASCII(), TLD: paid.Name.TLD(),
		Kind: paid.Kind, Years: paid.Years, Payment: paid.Payment, State: StatePaid, Account: quote.Account, Domain: quote.Domain,
		RequestedAt: now, DueAt: s.items.Now(), CreatedAt: now, UpdatedAt: now,
	}
	if paid.Kind == Transfer {
		item.SealedCode = s.cfg.Seal.Seal(registrar.AuthCodePurpose(item.Name), paid.Code)
	}
	if !paid.Kind.ForHeldDomain() {
		item.Registrant = registrant
	}
	// A repeated call must find its item although the name is no longer available.
	earlier, err := s.cfg.Store.ProvisionItemByPayment(ctx, item.Payment, item.Name)
	if err != nil {
		return Item{}, err
	}
	if earlier != nil {
		return sameItem(*earlier, item)
	}
	query := AvailabilityQuery{
		Kind: paid.Kind, Name: item.Name, TLD: item.TLD, Years: item.Years, HasRegistrant: found, Registrant: registrant, Code: paid.Code,
		Requires: paid.Extension.Requires, Nameservers: s.cfg.Nameservers, Purpose: registrar.ForPayment,
	}
	fees, err := registry.CheckAvailability(ctx, query)
	switch {
	case err != nil:
	case !fees.Term.IsZero(): // no price was agreed with anyone
		err = &registrar.Error{Kind: registrar.KindConflict, Code: registrar.NamePremium}
	default:
		err = missingError(registry.Missing(query))
	}
	if err == nil && !paid.Kind.ForHeldDomain() {
		// The TLD's rules that no registry checks: an operator who vouches for a payment does
		// not vouch for an identity.
		var verified string
		if verified, err = s.cfg.Store.VerifiedName(ctx, paid.Customer); err == nil {
			err = paid.Extension.CheckRegistrant(registrant, verified)
		}
	}
	if err != nil {
		return Item{}, err
	}
	stored, err := s.cfg.Store.AddProvisionItem(ctx, item, registrar.AuditEvent{
		Actor: actor, Action: ActionOrdered, Customer: paid.Customer, Object: item.Name, At: now,
	})
	if err != nil {
		return Item{}, err
	}
	s.items.Wake()
	return sameItem(stored, item)
}

// sameItem returns the earlier item of a payment if it matches the order. A payment of one
// customer never covers another customer's order.
func sameItem(earlier, ordered Item) (Item, error) {
	if earlier.Customer != ordered.Customer || earlier.Kind != ordered.Kind || earlier.Years != ordered.Years {
		return Item{}, &registrar.Error{Kind: registrar.KindConflict, Code: PaymentUsed}
	}
	return earlier, nil
}

// GetItem returns an item to an operator.
func (s *Service) GetItem(ctx context.Context, actor registrar.Actor, id string) (Item, error) {
	if err := requireOperatorOrSystem(actor); err != nil {
		return Item{}, err
	}
	item, found, err := s.cfg.Store.ProvisionItemByID(ctx, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchItem}
	}
	return item, err
}

func requireOperatorOrSystem(actor registrar.Actor) error {
	if actor.Kind == registrar.ActorSystem {
		return nil
	}
	return actor.RequireOperator()
}
