package provision

import (
	"context"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// ManualPayment begins the payment of a line that an operator vouches for.
const ManualPayment = "manual:"

// maxPayment bounds the reference of a payment.
const maxPayment = 100

// Order is what was paid for.
type Order struct {
	Customer  string
	Name      registrar.Name
	Extension registrar.Extension
	Kind      Kind
	// Years is 0 where the extension's shortest term is meant. A transfer has the
	// term that the registry gives it.
	Years   int
	Payment string
	// Code is the holder's auth code for a transfer.
	Code string
}

// Order checks a paid item with the registry that will carry it out and writes it
// down. From then on it ends as a registered domain or as a failed line that is
// marked for a refund. The same payment for the same name is the same line.
func (s *Service) Order(ctx context.Context, actor registrar.Actor, order Order) (Line, error) {
	if actor.Kind != registrar.ActorOperator && actor.Kind != registrar.ActorSystem {
		return Line{}, &registrar.Error{Kind: registrar.KindForbidden, Code: OperatorsOnly}
	}
	ref, manual := strings.CutPrefix(order.Payment, ManualPayment)
	if ref = strings.TrimSpace(ref); manual {
		order.Payment = ManualPayment + ref // spaces make no other payment of it
	}
	if manual && ref == "" ||
		order.Payment == "" || len(order.Payment) > maxPayment {
		return Line{}, &registrar.Error{Kind: registrar.KindInvalid, Code: BadPayment}
	}
	if order.Kind == Transfer && order.Code == "" {
		return Line{}, &registrar.Error{Kind: registrar.KindInvalid, Code: CodeMissing}
	}
	quote, registry, err := s.place(ctx, Wanted{Customer: order.Customer, Name: order.Name, Extension: order.Extension, Kind: order.Kind})
	if err != nil {
		return Line{}, err
	}
	if order.Years == 0 || order.Kind == Transfer {
		order.Years = quote.Years
	}
	holder, told, err := s.cfg.Store.HolderOf(ctx, order.Customer)
	if err != nil {
		return Line{}, err
	}
	if !told && order.Kind != Renew {
		return Line{}, &registrar.Error{Kind: registrar.KindConflict, Code: NoRegistrant}
	}
	line := s.newLine(order, quote)
	if order.Kind != Renew {
		line.Registrant = holder
	}
	// A repeated order must find its line, though the name is not free any more.
	earlier, err := s.cfg.Store.LineByPayment(ctx, line.Payment, line.Name)
	if err != nil {
		return Line{}, err
	}
	if earlier != nil {
		return same(*earlier, line)
	}
	wish := Wish{
		Kind: order.Kind, Name: line.Name, TLD: line.TLD, Years: line.Years, Told: told, Holder: holder, Code: order.Code,
		Requires: order.Extension.Requires, Nameservers: s.cfg.Nameservers, Purpose: registrar.ForPayment,
	}
	if err = registry.Offer(ctx, wish); err == nil {
		err = asError(registry.Missing(wish))
	}
	if err == nil && order.Kind != Renew {
		err = s.admit(ctx, order, holder)
	}
	if err != nil {
		return Line{}, err
	}
	stored, err := s.cfg.Store.AddLine(ctx, line, registrar.Deed{
		Actor: actor, Action: ActionOrdered, Customer: order.Customer, Object: line.Name, At: s.cfg.Now(),
	})
	if err != nil {
		return Line{}, err
	}
	s.lines.Wake()
	return same(stored, line)
}

// admit applies the rules of the extension that no registry checks: an operator who
// vouches for a payment does not vouch for an identity.
func (s *Service) admit(ctx context.Context, order Order, holder Holder) error {
	verified, err := s.cfg.Store.VerifiedName(ctx, order.Customer)
	if err != nil {
		return err
	}
	return order.Extension.CheckHolder(holder, verified)
}

// same is the line that a payment has paid for, if it is what is ordered now. What
// one customer has paid never stands for another one's order.
func same(earlier, wanted Line) (Line, error) {
	if earlier.Customer != wanted.Customer || earlier.Kind != wanted.Kind || earlier.Years != wanted.Years {
		return Line{}, &registrar.Error{Kind: registrar.KindConflict, Code: PaymentUsed}
	}
	return earlier, nil
}

func (s *Service) newLine(order Order, quote Quote) Line {
	now := s.clock()
	line := Line{
		ID: registrar.NewID("lin_", now), Customer: order.Customer, Name: order.Name.ASCII(), TLD: order.Name.TLD(),
		Kind: order.Kind, Years: order.Years, Payment: order.Payment, State: StatePaid, Account: quote.Account, Domain: quote.Domain,
		AskedAt: now, DueAt: now, CreatedAt: now, UpdatedAt: now,
	}
	if order.Kind == Transfer {
		line.SealedCode = s.cfg.Seal.Close(registrar.CodePurpose(line.Name), order.Code)
	}
	return line
}

// Line is a line for an operator's eyes.
func (s *Service) Line(ctx context.Context, actor registrar.Actor, id string) (Line, error) {
	if actor.Kind != registrar.ActorOperator && actor.Kind != registrar.ActorSystem {
		return Line{}, &registrar.Error{Kind: registrar.KindForbidden, Code: OperatorsOnly}
	}
	line, found, err := s.cfg.Store.LineByID(ctx, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchLine}
	}
	return line, err
}
