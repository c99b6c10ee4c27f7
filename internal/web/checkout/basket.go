package checkout

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// Basket is what the basket needs. Its page asks no registry: it shows the list's
// prices, and what an order really costs is found out when it is made.
type Basket struct {
	// Extension finds a row of the price list in force.
	Extension func(tld string) (registrar.Extension, bool)
	// RateBasisPoints is the VAT that prices are shown with before it is known who
	// buys, in hundredths of a percent.
	RateBasisPoints func(at time.Time) int
}

// basketRow is one name in the basket.
type basketRow struct {
	// Item is what the browser keeps of it.
	Item, Name, WhatKey, Term string
	Net, VAT, Gross           registrar.Cents
	// Later is what a further year costs with VAT; zero where nothing is known.
	Later registrar.Cents
	// ReasonKey says why it can't be ordered; Own is the page of the domain, if the
	// visitor holds it already.
	ReasonKey, Own string

	name registrar.Name
	kind order.Kind
}

type basketPage struct {
	Rows []basketRow
	// Sums are those of what the list has a price for.
	Net, VAT, Gross registrar.Cents
	Rate            string
	// Problem is a sentence, Transfer the field for a name that is to move here.
	Problem  string
	Transfer page.Field
	// Open is an order that waits for its payment; empty if there is none.
	Open string
	// SignIn and Register lead there; the first comes back here.
	SignIn string
}

const basketFull registrar.Code = "basket_full"

func (h *Handler) basketRoutes() []page.Route {
	if h.basket == nil {
		return nil
	}
	const get, post = http.MethodGet, http.MethodPost
	in := func(language string) http.HandlerFunc {
		return h.frame.Open(func(v *page.Visit) error {
			v.Prefer(language)
			return h.showBasket(v, nil, "")
		})
	}
	change := func(do page.Func) http.HandlerFunc {
		return h.frame.Open(func(v *page.Visit) error {
			v.FormOn(page.BasketIn(v.Language))
			return do(v)
		})
	}
	return []page.Route{
		{Method: get, Path: page.BasketPath, Handler: in(page.German)},
		{Method: get, Path: page.EnglishBasketPath, Handler: in(page.English)},
		{Method: post, Path: page.BasketPath + "/add", Handler: change(h.collect)},
		{Method: post, Path: page.BasketPath + "/remove", Handler: change(h.putBack)},
		{Method: post, Path: page.BasketPath + "/order", Handler: change(h.orderBasket)},
	}
}

// wantedOf reads an entry, such as register:example.de.
func (h *Handler) wantedOf(item string) (registrar.Name, order.Kind, error) {
	kind, text, _ := strings.Cut(item, ":")
	if kind != string(order.Register) && kind != string(order.Transfer) {
		return registrar.Name{}, "", &registrar.Error{Kind: registrar.KindInvalid, Code: order.BadItems}
	}
	name, err := registrar.ParseName(text, func(tld string) bool { _, listed := h.basket.Extension(tld); return listed })
	return name, order.Kind(kind), err
}

// notSold is why names of an extension can't be ordered in this way; nil if they can.
func notSold(ext registrar.Extension, kind order.Kind) error {
	refusal := ext.Sale.NoRegistration
	if kind == order.Transfer {
		refusal = ext.Sale.NoTransfer
	}
	if refusal == "" {
		return nil
	}
	return &registrar.Error{Kind: registrar.KindUnsupported, Code: refusal}
}

// rows are what is in the basket, with the list's prices. What can't be read is
// left out, and so is a name that is there already: no page of ours has put it there.
func (h *Handler) basketRows(v *page.Visit) (shown basketPage) {
	rate := h.basket.RateBasisPoints(v.Now)
	shown.Rate = formatRate(v.Language, rate)
	var nets []registrar.Cents
	for _, item := range v.Basket() {
		name, kind, err := h.wantedOf(item)
		known := slices.ContainsFunc(shown.Rows, func(r basketRow) bool { return r.Name == name.ASCII() })
		if err != nil || known {
			continue
		}
		ext, _ := h.basket.Extension(name.TLD())
		r := basketRow{Item: string(kind) + ":" + name.ASCII(), Name: name.ASCII(), WhatKey: "kind." + string(kind), name: name, kind: kind}
		r.Later = gross(ext.Renew, rate)
		switch kind {
		case order.Transfer:
			r.Net = ext.Transfer
		default:
			years := ext.Term()
			r.Net, r.Term = ext.Register*registrar.Cents(years), h.term(v.Language, years)
		}
		if err := notSold(ext, kind); err != nil { // it was sold when it was put here
			r.Net, r.Later, r.ReasonKey = 0, 0, h.refusedKey(err)
		}
		nets = append(nets, r.Net)
		shown.Rows = append(shown.Rows, r)
	}
	shares, err := billing.Share(nets, rate)
	if err != nil { // no price list has such prices
		shares = make([]registrar.Cents, len(nets))
	}
	for i := range shown.Rows {
		r := &shown.Rows[i]
		r.VAT, r.Gross = shares[i], r.Net+shares[i]
		shown.Net, shown.VAT, shown.Gross = shown.Net+r.Net, shown.VAT+r.VAT, shown.Gross+r.Gross
	}
	return shown
}

func gross(net registrar.Cents, rate int) registrar.Cents {
	shares, err := billing.Share([]registrar.Cents{net}, rate)
	if err != nil {
		return net
	}
	return net + shares[0]
}

// showBasket shows the basket, with what was wrong: about entries, about a name that
// was typed, or about all.
func (h *Handler) showBasket(v *page.Visit, wrong error, typed string) error {
	shown := h.basketRows(v)
	var items []string
	for _, r := range shown.Rows {
		items = append(items, r.Item)
	}
	if !slices.Equal(items, v.Basket()) {
		v.KeepBasket(items) // the head counts what the page shows
	}
	shown.SignIn = page.SignInPath + "?next=" + page.BasketIn(v.Language)
	shown.Transfer = page.Field{
		Name: "domain", Label: "basket.transfer.label", Type: "text", Autocomplete: "off", MaxLength: 260, Value: typed,
	}
	status := http.StatusOK
	if wrong != nil {
		wire.Annotate(v.W, wrong)
		var refused *order.ItemsRefused
		key, known := h.basketProblem(wrong)
		switch {
		case errors.As(wrong, &refused):
			status = http.StatusConflict
			shown.Problem = h.views.Text(v.Language, "basket.refused")
			for _, item := range refused.Items {
				at := slices.IndexFunc(shown.Rows, func(r basketRow) bool { return r.Name == item.Name })
				if at >= 0 {
					shown.Rows[at].ReasonKey = h.refusedKey(item.Reason)
					shown.Rows[at].Own = h.ownPath(v, item.Name, item.Reason)
				}
			}
		case !known:
			return wrong
		case typed != "":
			status = http.StatusUnprocessableEntity
			shown.Transfer.Problem, shown.Transfer.Focus = key, true
		default:
			status = http.StatusConflict
			shown.Problem = h.views.Text(v.Language, key)
			if wait := page.RetryAfter(wrong); wait > 0 {
				status = http.StatusTooManyRequests
				v.W.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
				shown.Problem = h.views.Text(v.Language, key, page.Wait(h.views, v.Language, wait))
			}
		}
	}
	if len(shown.Rows) == 0 && v.SignedIn {
		open, err := h.openOrder(v)
		if err != nil {
			return err
		}
		shown.Open = open
	}
	return h.views.Render(v, page.View{Name: "basket", Status: status, Title: "basket.title", Section: page.BasketIn(v.Language), Data: shown})
}

// refusedKey is the sentence about an entry that can't be ordered now.
func (h *Handler) refusedKey(reason error) string {
	switch code := registrar.CodeOf(reason); {
	case registrar.KindOf(reason) == registrar.KindUpstream:
		return "basket.unreachable"
	case registrar.KindOf(reason) == registrar.KindUnsupported && code == provision.NotEligible:
		return "reason.rule_unmet" // whoever the holder is
	default:
		return h.reasonKey(code)
	}
}

func (h *Handler) basketProblem(err error) (key string, known bool) {
	if registrar.CodeOf(err) == order.OverBudget {
		return "problem.basket_asks", true
	}
	if key := page.ProblemKey(registrar.CodeOf(err)); h.views.Has(key) {
		return key, true
	}
	switch registrar.KindOf(err) {
	case registrar.KindInvalid:
		return "problem.basket_name", true
	case registrar.KindUnsupported:
		if registrar.CodeOf(err) != registrar.ExtensionNotCarried {
			return h.refusedKey(err), true
		}
		return "problem.basket_extension", true
	case registrar.KindUpstream:
		return "problem.basket_upstream", true
	default:
		return "", false
	}
}

// openOrder is the newest order of this customer's that waits for its payment: who
// goes back from it finds the basket empty, and is shown the way.
func (h *Handler) openOrder(v *page.Visit) (string, error) {
	const newest = 5
	orders, err := h.orders.List(v.R.Context(), v.Actor(), "", newest)
	if err != nil {
		return "", err
	}
	for _, o := range orders {
		if o.State.Open() && o.Channel == order.ThroughPortal {
			return h.payPathOf(o)
		}
	}
	return "", nil
}

// collect puts a name into the basket: one that a row of the search offers, or one
// that somebody types because it is to move here. A name is in it once, in the way
// that was asked for last.
func (h *Handler) collect(v *page.Visit) error {
	item, typed := v.Field("item"), v.Text("domain")
	if item == "" {
		item = string(order.Transfer) + ":" + typed
		if typed == "" {
			typed = " "
		}
	}
	name, kind, err := h.wantedOf(item)
	if err == nil {
		ext, _ := h.basket.Extension(name.TLD())
		err = notSold(ext, kind)
	}
	if err == nil {
		items := slices.DeleteFunc(slices.Clone(v.Basket()), func(other string) bool {
			_, held, _ := strings.Cut(other, ":")
			return held == name.ASCII()
		})
		if !v.KeepBasket(append(items, string(kind)+":"+name.ASCII())) {
			err = &registrar.Error{Kind: registrar.KindConflict, Code: basketFull}
			typed = ""
		}
	}
	forScript := v.Field("part") != ""
	switch {
	case err != nil && forScript:
		return h.refuseScript(v, err)
	case err != nil:
		return h.showBasket(v, err, typed)
	case forScript:
		wire.WriteJSON(v.W, http.StatusOK, map[string]any{
			"count": len(v.Basket()), "go": page.BasketIn(v.Language),
			"label": h.views.Text(v.Language, "basket.collected"), "text": h.views.Text(v.Language, "basket.now", name.String(), len(v.Basket())),
		})
		return nil
	}
	return v.SeeOther(page.BasketIn(v.Language))
}

// refuseScript tells our script why not.
func (h *Handler) refuseScript(v *page.Visit, err error) error {
	key, known := h.basketProblem(err)
	if !known {
		return err
	}
	wire.Annotate(v.W, err)
	wire.WriteJSON(v.W, http.StatusConflict, map[string]any{"error": h.views.Text(v.Language, key)})
	return nil
}

// putBack takes a name out of the basket.
func (h *Handler) putBack(v *page.Visit) error {
	item := v.Field("item")
	v.KeepBasket(slices.DeleteFunc(slices.Clone(v.Basket()), func(other string) bool { return other == item }))
	return v.SeeOther(page.BasketIn(v.Language))
}

// orderBasket prepares the order, which is read and paid as every other one is.
// Nothing is owed before the button there.
func (h *Handler) orderBasket(v *page.Visit) error {
	if !v.SignedIn {
		return v.SignInFirst(page.SignInPath)
	}
	var wanted []order.Wanted
	for _, r := range h.basketRows(v).Rows {
		wanted = append(wanted, order.Wanted{Name: r.name, Kind: r.kind})
	}
	if len(wanted) == 0 {
		return v.SeeOther(page.BasketIn(v.Language))
	}
	made, err := h.orders.Start(v.R.Context(), v.Actor(), order.Request{Items: wanted, Channel: order.ThroughPortal})
	if err != nil {
		return h.showBasket(v, err, "")
	}
	address, err := h.orders.PayURL(made)
	if err != nil {
		return err
	}
	v.KeepBasket(nil)
	return v.SeeOther(h.pathOf(address))
}
