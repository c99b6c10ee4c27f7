package admin

import (
	"fmt"
	"io"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store"
)

type catalogBelowCostCommand struct {
	catalogFlags
	TLD    string `arg:"" name:"extension" help:"The extension, such as .shop."`
	Forbid bool   `help:"Forbid it again."`
}

// Run changes one value of the price list, so that all nodes and the audit log see it.
func (c catalogBelowCostCommand) Run(t *cli.Terminal) error {
	current, err := c.current(t)
	if err != nil {
		return err
	}
	next, listed := current.WithBelowCost(c.TLD, !c.Forbid)
	if !listed {
		return fmt.Errorf("the price list has no extension %s", cli.Printable(c.TLD))
	}
	return c.replace(t, next, true) // no price changes, so there is nothing to confirm
}

// printBelowCost prints the prices of a list that are below cost, and returns their number.
func printBelowCost(t *cli.Terminal, out io.Writer, db *store.DB, list *catalog.Catalog) (int, error) {
	now := time.Now()
	prices, err := app.LoadPrices(t.Ctx, db, now)
	if err != nil {
		return 0, err
	}
	below := order.ListBelowCost(prices, list.All(), now)
	for _, price := range below {
		effect := "not for sale"
		if price.Kind.ForHeldDomain() {
			effect = "sold at a loss, so that customers keep their domains"
		}
		fmt.Fprintf(out, "! %s %s: %s EUR below cost, %s\n", price.TLD, price.Kind, price.By, effect)
	}
	return len(below), nil
}
