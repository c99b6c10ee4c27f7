package admin

import (
	"errors"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

type TermsCommand struct {
	List    termsListCommand    `cmd:"" help:"List unpaid domains that need a decision, with the reason, and those that were overdue before the first run."`
	Brake   termsBrakeCommand   `cmd:"" help:"Show the safety brake and which domains would be suspended or deleted now."`
	Confirm termsConfirmCommand `cmd:"" help:"Release the safety brake after you have read what would happen."`
	Delete  termsDeleteCommand  `cmd:"" help:"Delete an unpaid domain, or hand it over to its registry where that is the rule. The running service executes it."`
	Leave   termsLeaveCommand   `cmd:"" help:"Leave an unpaid domain alone. The registry goes on charging for it."`
	Start   termsStartCommand   `cmd:"" help:"Start the usual procedure for a domain that was overdue before the first run."`
}

// withTerms runs a command on the service that decides about unpaid terms.
func withTerms(t *cli.Terminal, flags cli.ServiceFlags, run func(d cli.Session, terms *lifecycle.Service) error) error {
	return flags.WithSession(t, func(d cli.Session) error {
		terms, err := app.NewTerms(d.Services)
		if err != nil {
			return err
		}
		return run(d, terms)
	})
}

type termsListCommand struct{ listFlags }

func (c termsListCommand) Run(t *cli.Terminal) error {
	return withTerms(t, c.ServiceFlags, func(d cli.Session, terms *lifecycle.Service) error {
		open, err := terms.ListOpen(d.Ctx, d.Operator)
		if err != nil {
			return err
		}
		list := newList(t, c.JSON, "%-40s  %-10s  %-10s  %-10s  %s", "Domain", "Paid until", "State", "Reason", "Customer")
		for _, term := range append(open.Waiting, open.Left...) {
			list.addTerm(term.Name, term.Customer, term.End, string(term.State), string(term.WaitsFor))
		}
		for _, domain := range open.Overdue {
			list.addTerm(domain.Name, domain.Customer, domain.PaidUntil, "expired", "overdue")
		}
		return list.end(nil)
	})
}

func (l *list) addTerm(name, customer string, paidUntil time.Time, state, reason string) {
	l.add(struct {
		Domain    string     `json:"domain"`
		Customer  string     `json:"customer"`
		PaidUntil *time.Time `json:"paid_until"`
		State     string     `json:"state"`
		Reason    string     `json:"reason"`
	}{name, customer, jsonTime(paidUntil), state, reason}, name, formatDate(paidUntil), state, reason, customer)
}

type termsBrakeCommand struct{ listFlags }

// Run prints the preview as a list; the state of the brake is printed before it.
func (c termsBrakeCommand) Run(t *cli.Terminal) error {
	return withTerms(t, c.ServiceFlags, func(d cli.Session, terms *lifecycle.Service) error {
		preview, err := terms.Preview(d.Ctx, d.Operator)
		if err != nil {
			return err
		}
		if !c.JSON {
			fmt.Fprintln(d.Out, brakeText(preview))
			if len(preview.Online) > 0 {
				fmt.Fprintf(d.Out, "%d domains with an unconfirmed address stay online, because their registry accepts no clientHold\n", len(preview.Online))
			}
		}
		list := newList(t, c.JSON, "%-40s  %-10s  %-10s  %s", "Domain", "Paid until", "Action", "Customer")
		for _, planned := range preview.Planned {
			term := planned.Term
			list.add(struct {
				Domain    string           `json:"domain"`
				Customer  string           `json:"customer"`
				PaidUntil *time.Time       `json:"paid_until"`
				Action    lifecycle.Action `json:"action"`
			}{term.Name, term.Customer, jsonTime(term.End), planned.Action}, term.Name, formatDate(term.End), planned.Action, term.Customer)
		}
		return list.end(nil)
	})
}

func brakeText(preview lifecycle.Preview) string {
	brake := preview.Brake
	switch {
	case !preview.Started:
		return "the service has not run yet"
	case brake.StoppedByClock():
		return fmt.Sprintf("stopped by the clock rule at %s: no notices, no charges, no holds, no deletions\nservice time: %s\n%d actions would begin now; confirm with: dotkontor terms confirm --actions %d",
			formatTime(brake.StoppedAt), formatTime(brake.LastRun), len(preview.Planned), len(preview.Planned))
	case brake.Engaged():
		return fmt.Sprintf("stopped by the volume rule at %s: no holds, no deletions\nlimit per day: %d\n%d actions would begin now; confirm with: dotkontor terms confirm --actions %d",
			formatTime(brake.StoppedAt), preview.Limit, len(preview.Planned), len(preview.Planned))
	default:
		return fmt.Sprintf("running; service time: %s; limit per day: %d", formatTime(brake.LastRun), preview.Limit)
	}
}

type termsConfirmCommand struct {
	cli.ServiceFlags
	Actions int `required:"" help:"The number of actions that 'terms brake' has listed. If there are more by now, nothing changes." placeholder:"N"`
}

func (c termsConfirmCommand) Run(t *cli.Terminal) error {
	return withTerms(t, c.ServiceFlags, func(d cli.Session, terms *lifecycle.Service) error {
		err := terms.Confirm(d.Ctx, d.Operator, c.Actions)
		switch registrar.CodeOf(err) {
		case lifecycle.PreviewChanged:
			return errors.New("more would happen now than you have confirmed; read 'dotkontor terms brake' again")
		case lifecycle.BrakeReleased:
			return errors.New("the safety brake is not engaged")
		}
		return d.Report(err, "confirmed: the service continues")
	})
}

// termFlags name the domain of a decision.
type termFlags struct {
	cli.ServiceFlags
	Name string `arg:"" help:"The domain."`
}

func (c termFlags) decide(t *cli.Terminal, done string, decide func(d cli.Session, terms *lifecycle.Service, id, customer, name string) error) error {
	return withTerms(t, c.ServiceFlags, func(d cli.Session, terms *lifecycle.Service) error {
		name, err := registrar.ParseHost(c.Name)
		if err != nil {
			return err
		}
		domain, found, err := d.Services.DB.DomainByName(d.Ctx, name)
		if err != nil {
			return err
		}
		if !found {
			return errors.New("no such domain")
		}
		err = decide(d, terms, domain.ID, domain.Customer, domain.Name)
		switch registrar.CodeOf(err) {
		case lifecycle.NoSuchTerm:
			return errors.New("the domain has no unpaid term")
		case lifecycle.PaymentInProgress:
			return errors.New("the domain was renewed or is being paid; nothing has changed")
		case lifecycle.WaitsForLock:
			return errors.New("an operator has locked the domain; nothing has changed")
		}
		return d.Report(err, done+": %s", domain.Name)
	})
}

type termsDeleteCommand struct{ termFlags }

func (c termsDeleteCommand) Run(t *cli.Terminal) error {
	return c.decide(t, "deletion ordered", func(d cli.Session, terms *lifecycle.Service, id, _, _ string) error {
		return terms.Delete(d.Ctx, d.Operator, id)
	})
}

type termsLeaveCommand struct{ termFlags }

func (c termsLeaveCommand) Run(t *cli.Terminal) error {
	return c.decide(t, "left alone", func(d cli.Session, terms *lifecycle.Service, id, _, _ string) error {
		return terms.Leave(d.Ctx, d.Operator, id)
	})
}

type termsStartCommand struct{ termFlags }

func (c termsStartCommand) Run(t *cli.Terminal) error {
	return c.decide(t, "started", func(d cli.Session, terms *lifecycle.Service, id, customer, name string) error {
		return terms.Adopt(d.Ctx, d.Operator, id, customer, name)
	})
}
