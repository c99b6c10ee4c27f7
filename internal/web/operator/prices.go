package operator

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// largestList bounds an upload; the shipped list has 38 KiB.
const largestList = 2 << 20

// shownProblems bounds how many mistakes of a list are told.
const shownProblems = 20

// pricesView is the page, with a comparison if there is one.
type pricesView struct {
	Extensions int
	// Compared says that what follows is there: what would come, go and change.
	Compared            bool
	Came, Went, Changed []catalog.Change
	// Text is the new list, exactly as it was compared; Was is the edition that it was
	// compared with.
	Text string
	Was  int64
	// Unconfirmed counts the changes that look like mistakes and must be confirmed.
	Unconfirmed int
	// Dearer counts prices that rise, Cheaper those that fall.
	Dearer, Cheaper int
	// Mistakes are why a list was refused.
	Mistakes []string
}

func (h *Handler) prices(v *page.Visit, _ registrar.Actor) error {
	return h.showPrices(v, pricesView{}, http.StatusOK, "")
}

func (h *Handler) showPrices(v *page.Visit, view pricesView, status int, problem string) error {
	current, err := h.Prices.Current(v.R.Context())
	if err != nil {
		return err
	}
	view.Extensions = current.List.Len()
	return h.renderWith(v, page.View{Name: "prices", Status: status, Title: "prices.title", Section: pricesPath}, view, problem)
}

// listFile is the list in force, as an upload has to be.
func (h *Handler) listFile(v *page.Visit, _ registrar.Actor) error {
	current, err := h.Prices.Current(v.R.Context())
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := current.List.Write(&text); err != nil {
		return err
	}
	v.W.Header().Set("Content-Disposition", `attachment; filename="extensions.csv"`)
	wire.WriteBytes(v.W, http.StatusOK, []string{"text/csv; charset=utf-8"}, text.Bytes())
	return nil
}

// comparePrices shows what a list would change. Nothing counts yet.
func (h *Handler) comparePrices(v *page.Visit, _ registrar.Actor) error {
	text, err := sentList(v)
	if err != nil {
		return err
	}
	return h.compare(v, text, "")
}

// sentList is the uploaded file, or what was pasted.
func sentList(v *page.Visit) (string, error) {
	if v.R.MultipartForm == nil {
		return v.Field("text"), nil
	}
	file, _, err := v.R.FormFile("list")
	if errors.Is(err, http.ErrMissingFile) {
		return v.R.FormValue("text"), nil
	}
	if err != nil {
		return "", &registrar.Error{Kind: registrar.KindInvalid, Code: "bad_form"}
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, largestList))
	if err != nil {
		return "", &registrar.Error{Kind: registrar.KindInvalid, Code: "bad_form"}
	}
	return string(text), nil
}

// mistakes are the lines of a refusal.
func mistakes(err error) []string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	if len(lines) > shownProblems {
		lines = append(lines[:shownProblems], "…")
	}
	return lines
}

func (h *Handler) compare(v *page.Visit, text, problem string) error {
	next, err := catalog.Parse(strings.NewReader(text))
	if err != nil {
		return h.showPrices(v, pricesView{Mistakes: mistakes(err)}, http.StatusUnprocessableEntity, h.views.Text(v.Language, "prices.refused"))
	}
	current, err := h.Prices.Current(v.R.Context())
	if err != nil {
		return err
	}
	changes := current.List.Diff(next)
	view := pricesView{Compared: true, Text: text, Was: current.Number, Unconfirmed: catalog.NeedConfirmation(changes, h.ConfirmFactor)}
	for _, change := range changes {
		switch {
		case change.Field != "":
			view.Changed = append(view.Changed, change)
			view.count(change)
		case change.Old == "":
			view.Came = append(view.Came, change)
		default:
			view.Went = append(view.Went, change)
		}
	}
	status := http.StatusOK
	if problem != "" {
		status = http.StatusConflict
	}
	return h.showPrices(v, view, status, problem)
}

func (p *pricesView) count(change catalog.Change) {
	was, is, ok := change.Prices()
	switch {
	case !ok:
	case is > was:
		p.Dearer++
	case is < was:
		p.Cheaper++
	}
}

// applyPrices puts a list in force that was compared with the one that still is.
func (h *Handler) applyPrices(v *page.Visit, operator registrar.Actor) error {
	if err := recent(v); err != nil {
		return err
	}
	text := v.Field("text")
	next, err := catalog.Parse(strings.NewReader(text))
	if err != nil {
		return h.compare(v, text, "")
	}
	current, err := h.Prices.Current(v.R.Context())
	if err != nil {
		return err
	}
	if strconv.FormatInt(current.Number, 10) != v.Field("was") {
		return h.compare(v, text, h.views.Text(v.Language, "prices.meanwhile"))
	}
	if catalog.NeedConfirmation(current.List.Diff(next), h.ConfirmFactor) > 0 && v.Field("confirmed") == "" {
		return h.compare(v, text, h.views.Text(v.Language, "prices.unconfirmed"))
	}
	err = h.Prices.Replace(v.R.Context(), operator, current, next)
	if errors.Is(err, catalog.ErrEditionConflict) {
		return h.compare(v, text, h.views.Text(v.Language, "prices.meanwhile"))
	}
	if err != nil {
		return &registrar.Error{Kind: registrar.KindInternal, Code: "price_list_not_written", Err: err}
	}
	v.Note("prices_applied")
	return v.SeeOther(pricesPath)
}
