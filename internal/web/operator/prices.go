package operator

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Prices is the price list.
type Prices interface {
	// Current returns the edition in effect on all nodes.
	Current(ctx context.Context) (catalog.Edition, error)
	// Replace puts next into effect, with an audit event. It returns
	// catalog.ErrEditionConflict if was is no longer in effect.
	Replace(ctx context.Context, by registrar.Actor, was catalog.Edition, next *catalog.Catalog) error
}

// maxListBytes limits an upload; the shipped list has 38 KiB.
const maxListBytes = 2 << 20

const maxShownProblems = 20

// pricesView is the page, with a comparison if there is one.
type pricesView struct {
	Extensions     int
	Compared       bool // the following fields are set
	Added, Removed []catalog.Change
	Changed        []changeRow
	// Text is the new list exactly as compared; Was is the edition it was compared
	// with.
	Text        string
	Was         int64
	Unconfirmed int // suspicious changes that must be confirmed
	// Raised counts price increases, Lowered decreases.
	Raised, Lowered int
	Problems        []string // why a list was rejected
	BelowCost       []order.PriceBelowCost
}

// changeRow is a change of one column. A price is shown in euros, a cost as a number in the currency
// of its row, and anything else as the file has it.
type changeRow struct {
	catalog.Change
	Priced, Cost bool
	Was, Is      registrar.Cents // of a price
}

func newChangeRow(change catalog.Change) changeRow {
	row := changeRow{Change: change, Cost: strings.HasPrefix(change.Field, "cost_") && change.Field != "cost_currency"}
	row.Was, row.Is, row.Priced = change.Prices()
	return row
}

func (h *Handler) prices(req *ui.Request, _ registrar.Actor) error {
	return h.showPrices(req, pricesView{}, http.StatusOK, "")
}

func (h *Handler) showPrices(req *ui.Request, view pricesView, status int, problem string) error {
	current, err := h.Prices.Current(req.R.Context())
	if err != nil {
		return err
	}
	view.Extensions = current.List.Len()
	return h.render(req, ui.View{Name: "prices", Status: status, Section: pricesPath}, view, problem)
}

// listFile serves the current list in the upload format, with columns for costs.
func (h *Handler) listFile(req *ui.Request, _ registrar.Actor) error {
	current, err := h.Prices.Current(req.R.Context())
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := current.List.WriteAll(&text); err != nil {
		return err
	}
	req.W.Header().Set("Content-Disposition", `attachment; filename="extensions.csv"`)
	httpjson.WriteBytes(req.W, http.StatusOK, []string{"text/csv; charset=utf-8"}, text.Bytes())
	return nil
}

// comparePrices shows what a list would change, without applying it.
func (h *Handler) comparePrices(req *ui.Request, _ registrar.Actor) error {
	text, err := uploadedList(req)
	if err != nil {
		return err
	}
	return h.showComparison(req, text, "")
}

func uploadedList(req *ui.Request) (string, error) {
	if req.R.MultipartForm == nil {
		return req.Field("text"), nil
	}
	file, _, err := req.R.FormFile("list")
	if errors.Is(err, http.ErrMissingFile) {
		return req.R.FormValue("text"), nil
	}
	if err != nil {
		return "", &registrar.Error{Kind: registrar.KindInvalid, Code: ui.BadForm}
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxListBytes))
	if err != nil {
		return "", &registrar.Error{Kind: registrar.KindInvalid, Code: ui.BadForm}
	}
	return string(text), nil
}

func (h *Handler) showComparison(req *ui.Request, text, problem string) error {
	next, err := catalog.Parse(strings.NewReader(text))
	if err != nil {
		var problems catalog.Problems
		if !errors.As(err, &problems) {
			return err
		}
		var lines []string
		for i, problem := range problems {
			if i == maxShownProblems {
				lines = append(lines, "…")
				break
			}
			lines = append(lines, listProblem(req.Language, problem))
		}
		return h.showPrices(req, pricesView{Problems: lines}, http.StatusUnprocessableEntity, h.templates.Text(req.Language, "prices.refused"))
	}
	current, err := h.Prices.Current(req.R.Context())
	if err != nil {
		return err
	}
	changes := current.List.Diff(next)
	view := pricesView{Compared: true, Text: text, Was: current.Number, Unconfirmed: catalog.NeedConfirmation(changes, h.ConfirmFactor)}
	view.BelowCost = h.belowCost(next)
	view.Unconfirmed += len(view.BelowCost)
	for _, change := range changes {
		switch {
		case change.Field != "":
			row := newChangeRow(change)
			view.Changed = append(view.Changed, row)
			if row.Priced && row.Is > row.Was {
				view.Raised++
			}
			if row.Priced && row.Is < row.Was {
				view.Lowered++
			}
		case change.Old == "":
			view.Added = append(view.Added, change)
		default:
			view.Removed = append(view.Removed, change)
		}
	}
	status := http.StatusOK
	if problem != "" {
		status = http.StatusConflict
	}
	return h.showPrices(req, view, status, problem)
}

// belowCost returns the prices of a list that are below what registries charge.
func (h *Handler) belowCost(list *catalog.Catalog) []order.PriceBelowCost {
	if h.BelowCost == nil {
		return nil
	}
	return h.BelowCost(list.All())
}

// applyPrices applies a list, if the one it was compared with is still in effect.
func (h *Handler) applyPrices(req *ui.Request, operator registrar.Actor) error {
	text := req.Field("text")
	next, err := catalog.Parse(strings.NewReader(text))
	if err != nil {
		return h.showComparison(req, text, "")
	}
	current, err := h.Prices.Current(req.R.Context())
	if err != nil {
		return err
	}
	if strconv.FormatInt(current.Number, 10) != req.Field("was") {
		return h.showComparison(req, text, h.templates.Text(req.Language, "prices.meanwhile"))
	}
	if catalog.NeedConfirmation(current.List.Diff(next), h.ConfirmFactor)+len(h.belowCost(next)) > 0 && req.Field("confirmed") == "" {
		return h.showComparison(req, text, h.templates.Text(req.Language, "prices.unconfirmed"))
	}
	err = h.Prices.Replace(req.R.Context(), operator, current, next)
	if errors.Is(err, catalog.ErrEditionConflict) {
		return h.showComparison(req, text, h.templates.Text(req.Language, "prices.meanwhile"))
	}
	if err != nil {
		return &registrar.Error{Kind: registrar.KindInternal, Code: "price_list_not_written", Err: err}
	}
	return req.RedirectWithFlash("prices_applied", pricesPath)
}
