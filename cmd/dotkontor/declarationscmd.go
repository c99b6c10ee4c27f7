package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/declaration"
	"github.com/dotkontor/dotkontor/internal/web/law"
)

type declarationsCommand struct {
	List declarationsListCommand `cmd:"" help:"Show withdrawals and terminations, the oldest first."`
	Done declarationsDoneCommand `cmd:"" help:"Note that one is dealt with."`
}

type declarationsListCommand struct {
	servicePlace
	Open bool `help:"Only those that nobody has dealt with."`
	JSON bool `name:"json" help:"Print one JSON array."`
}

// Run prints page by page.
func (c declarationsListCommand) Run(t *terminal) error {
	return c.operate(t, func(d desk) error {
		declarations, err := declaration.New(declaration.Config{Store: d.people.db})
		if err != nil {
			return err
		}
		list := newList(d.out, c.JSON, fmt.Sprintf(declarationColumns,
			"Nummer/number", "Eingang/received", "Art/kind", "zum/as of", "", "Zustimmung/consent", "Vertrag/contract", "E-Mail", "Name"))
		for last := ""; ; {
			page, err := d.people.db.Declarations(d.ctx, last, listPage)
			if err != nil {
				return err
			}
			for _, one := range page {
				last = one.ID
				if c.Open && !one.DoneAt.IsZero() {
					continue
				}
				orders, err := declarations.Orders(d.ctx, one)
				if err != nil {
					return err
				}
				if err := list.add(newDeclarationRow(one, orders)); err != nil {
					return err
				}
			}
			if len(page) < listPage {
				return list.end()
			}
		}
	})
}

const declarationColumns = "%-30s  %-20s  %-11s  %-10s  %-4s  %-18s  %-24s  %-28s  %s"

// declarationRow is one declaration in a list.
type declarationRow struct {
	ID         string     `json:"id"`
	Kind       string     `json:"kind"`
	ReceivedAt time.Time  `json:"receivedAt"`
	Name       string     `json:"name"`
	Email      string     `json:"email"`
	Contract   string     `json:"contract"`
	Ground     string     `json:"ground,omitempty"`
	Reason     string     `json:"reason,omitempty"`
	End        string     `json:"end,omitempty"`
	DoneAt     *time.Time `json:"doneAt,omitempty"`
	// Orders are those that a withdrawal may be about.
	Orders []declaredOrder `json:"orders,omitempty"`
}

// declaredOrder is an order, and when its consumer asked for an early beginning: null
// where nobody did.
type declaredOrder struct {
	ID        string     `json:"id"`
	PaidAt    *time.Time `json:"paidAt"`
	ConsentAt *time.Time `json:"consentAt"`
	Wording   string     `json:"wording,omitempty"`
}

func newDeclarationRow(d declaration.Declaration, orders []declaration.Ordered) declarationRow {
	row := declarationRow{
		ID: d.ID, Kind: string(d.Kind), ReceivedAt: d.At, Name: d.Name, Email: d.Email, Contract: d.Contract,
		Ground: string(d.Ground), Reason: d.Reason, End: d.End,
	}
	if !d.DoneAt.IsZero() {
		row.DoneAt = &d.DoneAt
	}
	for _, one := range orders {
		row.Orders = append(row.Orders, declaredOrder{ID: one.ID, PaidAt: stamp(one.PaidAt), ConsentAt: stamp(one.ConsentAt), Wording: one.Wording})
	}
	return row
}

func (r declarationRow) String() string {
	done, end := "open", r.End
	if r.DoneAt != nil {
		done = "done"
	}
	if end == "" {
		end = "-"
	}
	return fmt.Sprintf(declarationColumns, r.ID, r.ReceivedAt.Format(time.RFC3339), r.Kind, end, done, r.consents(),
		printable(r.Contract), printable(r.Email), printable(r.Name))
}

// consents says of each order that it may be about on which day its consumer asked for
// an early beginning. A question mark: no order is known by these words.
func (r declarationRow) consents() string {
	if r.Kind != string(declaration.Withdrawal) {
		return "-"
	}
	words := make([]string, 0, len(r.Orders))
	for _, one := range r.Orders {
		word := "none"
		if one.ConsentAt != nil {
			word = one.ConsentAt.Format(time.DateOnly)
		}
		words = append(words, word)
	}
	return cmp.Or(strings.Join(words, ","), "?")
}

type declarationsDoneCommand struct {
	servicePlace
	ID string `arg:"" help:"The number, dcl_…"`
}

// Run marks it once.
func (c declarationsDoneCommand) Run(t *terminal) error {
	return c.operate(t, func(d desk) error {
		done, err := d.people.db.FinishDeclaration(d.ctx, c.ID, time.Now())
		if err == nil && !done {
			err = &registrar.Error{Kind: registrar.KindNotFound, Code: declaration.NoSuchDeclaration}
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(d.out, "erledigt / done:", c.ID)
		return err
	})
}

type textsCommand struct {
	Folder string `arg:"" help:"Folder; it is made, and files that are there stay as they are."`
}

// Run writes the shipped texts.
func (c textsCommand) Run(t *terminal) error {
	written, err := law.WriteTexts(c.Folder)
	for _, file := range written {
		fmt.Fprintln(t.out, file)
	}
	return err
}
