package checkout

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

type basketRow struct {
	// Item is the entry in the browser's cookie.
	Item, Name, WhatKey, Term string
	Net, Gross                registrar.Cents
	// Later is the gross price of each further term; zero if unknown. LaterTerm is its length,
	// empty if that is a year.
	Later     registrar.Cents
	LaterTerm string
	// ReasonKey is the text key of why it can't be ordered; Own is the domain's page if
	// the visitor already holds it.
	ReasonKey, Own string

	// Terms are the terms that can be chosen; empty if there is only one.
	Terms []basketTerm

	basketItem
}

// basketTerm is a term of a registration.
type basketTerm struct {
	Years  int
	Text   string
	Chosen bool
}

type basketPage struct {
	Steps []step
	Rows  []basketRow
	// Net, VAT and Gross are the sums of the items with a list price.
	Net, VAT, Gross registrar.Cents
	Rate            string
	Rounded         bool     // the gross prices don't add up to Gross
	Untaxed         bool     // no VAT is charged, so no price is called gross
	VATKey          string   // explains the rate
	Bought          string   // says which domains were dropped because the customer has bought them
	Problem         string   // a message
	Transfer        ui.Field // for a domain to transfer
	Open            string   // the path of an order awaiting payment; empty if there is none
	SignIn          string   // returns to this page
	Email           ui.Field // of a new customer
	Identity        order.IdentityCheck

	Refused []string // the entries of items that can't be ordered

	verify bool // an extension requires a verified identity
	rate   int
}

// HasTerms reports whether there is a term to choose.
func (p basketPage) HasTerms() bool {
	return slices.ContainsFunc(p.Rows, func(r basketRow) bool { return len(r.Terms) > 0 })
}

const basketFull registrar.Code = "basket_full"

// basketPage is the basket at its path in a language. It shows list prices, and the order determines
// the actual ones. It queries registries only if an order of it has just failed.
func (h *Handler) basketPage(language string) http.HandlerFunc {
	return h.Frame.Page(func(req *ui.Request) error {
		req.PreferLanguage(language)
		return h.showBasket(req, h.checkBasket(req), "")
	})
}

// basketChange is the target of a form of the basket.
func (h *Handler) basketChange(do ui.PageFunc) http.HandlerFunc {
	return h.Frame.Page(func(req *ui.Request) error {
		req.SetFormPath(ui.BasketPathIn(req.Language))
		return do(req)
	})
}

// basketRate returns the VAT rate of the visitor, or the German one if their address is not known, and
// the text that explains it.
func (h *Handler) basketRate(req *ui.Request) (basisPoints int, key string) {
	shown := h.RateBasisPoints(h.Now())
	if !req.SignedIn {
		return shown, "basket.vat"
	}
	var tax billing.Assessment
	_, known, err := h.Registrants.Registrant(req.R.Context(), req.Actor())
	if err == nil && known {
		tax, err = h.Orders.VATRate(req.R.Context(), req.Actor())
	}
	if err != nil { // the order determines the rate
		httpjson.RecordError(req.W, err)
	}
	switch {
	case err != nil || !known:
		return shown, "basket.vat"
	case tax.Rule == billing.RuleReverseCharge:
		return tax.RateBasisPoints, "basket.vat_reverse"
	case tax.Rule == billing.RuleOutsideEU:
		return tax.RateBasisPoints, "basket.vat_untaxed"
	default:
		return tax.RateBasisPoints, "basket.vat_known"
	}
}

// basketRows returns the items of the basket with list prices.
func (h *Handler) basketRows(req *ui.Request) (shown basketPage) {
	rate, key := h.basketRate(req)
	shown.Rate, shown.VATKey = formatRate(req.Language, rate), key
	for _, entry := range h.parseItems(req.Basket()) {
		ext, _ := h.Extension(entry.name.TLD())
		if entry.Premium() {
			ext.Register, ext.Renew = entry.register, entry.renew
		}
		r := basketRow{Item: entry.String(), Name: entry.name.ASCII(), WhatKey: "kind." + string(entry.kind), basketItem: entry}
		if r.Later = billing.Gross(ext.Renew*registrar.Cents(ext.Term()), rate); ext.Term() > 1 {
			r.LaterTerm = h.term(req.Language, ext.Term())
		}
		years := max(entry.years, ext.Term())
		if r.Net = order.NetPrice(ext, entry.kind, years); entry.kind == order.Register {
			r.Term, r.Terms = h.term(req.Language, years), h.termsOnSale(req.Language, ext, years)
		}
		if err := saleError(ext, entry.kind); err != nil { // it was sold when it was added
			r.Net, r.Later, r.Terms, r.ReasonKey = 0, 0, nil, h.refusedKey(entry.kind, err)
		} else {
			shown.verify = shown.verify || ext.Verify
		}
		shown.Rows = append(shown.Rows, r)
	}
	shown.addPrices(rate)
	return shown
}

// addPrices sets the gross prices and the sums. VAT is rounded once, over the sum; equal items have
// equal prices.
func (p *basketPage) addPrices(rate int) {
	var sum registrar.Cents
	p.rate, p.Net = rate, 0
	for i := range p.Rows {
		r := &p.Rows[i]
		r.Gross = billing.Gross(r.Net, rate)
		p.Net, sum = p.Net+r.Net, sum+r.Gross
	}
	p.Gross, p.Untaxed = billing.Gross(p.Net, rate), rate == 0
	p.Rounded = sum != p.Gross
	p.VAT = p.Gross - p.Net
}

// exclude leaves the items that can't be ordered out of the sums.
func (p *basketPage) exclude(refused []order.RefusedItem) {
	for i := range p.Rows {
		r := &p.Rows[i]
		if slices.ContainsFunc(refused, func(item order.RefusedItem) bool { return item.Name == r.Name }) {
			r.Net, r.Later, r.Terms = 0, 0, nil
			p.Refused = append(p.Refused, r.Item)
		}
	}
	p.addPrices(p.rate)
}

// termsOnSale returns the terms that a registration can have, nil if there is only one.
func (h *Handler) termsOnSale(language string, ext registrar.Extension, chosen int) (terms []basketTerm) {
	longest := h.LongestTerm(ext)
	if longest <= ext.Term() {
		return nil
	}
	for years := ext.Term(); years <= longest; years++ {
		terms = append(terms, basketTerm{Years: years, Text: h.term(language, years), Chosen: years == chosen})
	}
	return terms
}

// showBasket renders the basket with an error about an item, about a typed name or email
// address, or about the whole.
func (h *Handler) showBasket(req *ui.Request, wrong error, typed string) error {
	bought, err := h.dropBought(req, wrong != nil)
	if err != nil {
		return err
	}
	shown := h.basketRows(req)
	if len(bought) > 0 {
		shown.Bought = h.templates.Text(req.Language, "basket.bought", strings.Join(bought, ", "))
	}
	var items []string
	for _, r := range shown.Rows {
		items = append(items, r.Item)
	}
	if !slices.Equal(items, req.Basket()) {
		if _, err := req.SetBasket(items); err != nil { // the header counts what the page shows
			return err
		}
	}
	req.ShowBasketItems(len(shown.Rows))
	shown.Steps = steps(0)
	shown.SignIn = ui.SignInPath + "?next=" + ui.BasketPathIn(req.Language)
	shown.Transfer = ui.Field{
		Name: "domain", Label: "basket.transfer.label", Type: "text", Autocomplete: "off", MaxLength: 260, Value: typed,
	}
	shown.Email = ui.Field{Name: "email", Label: "basket.email", Hint: "basket.email.hint", Type: "email", Autocomplete: "email", MaxLength: 254}
	status := http.StatusOK
	if wrong != nil {
		httpjson.RecordError(req.W, wrong)
		var refused *order.ItemsRefused
		var unquoted *order.ItemsUnquoted
		key, known := h.basketProblem(wrong)
		switch {
		case errors.As(wrong, &refused):
			status = http.StatusConflict
			shown.Problem = h.templates.Text(req.Language, "basket.refused")
			h.markRefused(req, shown.Rows, slices.Concat(refused.Items, refused.Unquoted))
			shown.exclude(refused.Items)
		case known && errors.As(wrong, &unquoted):
			status = http.StatusConflict
			shown.Problem = h.templates.Text(req.Language, key)
			h.markRefused(req, shown.Rows, unquoted.Items)
		case registrar.CodeOf(wrong) == account.EmailInvalid:
			status = http.StatusUnprocessableEntity
			shown.Transfer.Value, shown.Email.Value, shown.Email.Problem, shown.Email.Focus = "", typed, "problem.basket_email", true
		case !known:
			return wrong
		case typed != "":
			status = http.StatusUnprocessableEntity
			shown.Transfer.Problem, shown.Transfer.Focus = key, true
		default:
			status = http.StatusConflict
			shown.Problem = h.templates.Text(req.Language, key)
			if wait, asked := req.SetRetryAfter(wrong); asked {
				status, shown.Problem = http.StatusTooManyRequests, h.templates.Text(req.Language, key, wait)
			}
		}
	}
	if req.R.Method == http.MethodGet {
		status = http.StatusOK
	}
	if len(shown.Rows) > 0 {
		shown.Identity, err = h.Orders.ExpectedIdentityCheck(req.R.Context(), req.Actor(), shown.Gross, shown.verify)
	} else if req.SignedIn {
		shown.Open, err = h.openOrder(req)
	}
	if err != nil {
		return err
	}
	return h.templates.Render(req, ui.View{Name: "basket", Status: status, Title: "basket.title", Section: ui.BasketPathIn(req.Language), Data: shown})
}

// markRefused notes at each row why it can't be ordered now.
func (h *Handler) markRefused(req *ui.Request, rows []basketRow, refused []order.RefusedItem) {
	for _, item := range refused {
		at := slices.IndexFunc(rows, func(r basketRow) bool { return r.Name == item.Name })
		if at < 0 {
			continue
		}
		rows[at].ReasonKey = h.refusedKey(item.Kind, item.Reason)
		if key, page := h.ownDomain(req, item.Kind, item.Name, item.Reason); page != "" {
			rows[at].ReasonKey, rows[at].Own = key, page
		}
	}
}

// refusedKey returns the text key for an item that can't be ordered now.
func (h *Handler) refusedKey(kind order.Kind, reason error) string {
	switch code := codeOf(reason); {
	case registrar.KindOf(reason) == registrar.KindUpstream:
		return "basket.unreachable"
	case registrar.KindOf(reason) == registrar.KindUnsupported && code == provision.NotEligible:
		return "reason.rule_unmet" // independent of the holder
	default:
		return h.reasonKey(kind, code)
	}
}

func (h *Handler) basketProblem(err error) (key string, known bool) {
	if registrar.CodeOf(err) == order.OverBudget {
		return "problem.basket_asks", true
	}
	if key := ui.ProblemKey(registrar.CodeOf(err)); h.templates.Has(key) {
		return key, true
	}
	switch registrar.KindOf(err) {
	case registrar.KindInvalid:
		return "problem.basket_name", true
	case registrar.KindUnsupported:
		if registrar.CodeOf(err) != registrar.ExtensionNotCarried {
			return h.refusedKey("", err), true
		}
		return "problem.basket_extension", true
	case registrar.KindUpstream:
		return "problem.basket_upstream", true
	default:
		return "", false
	}
}

// dropBought removes the domains that the customer holds or has just paid for, and returns
// their names: the purchase may have been completed in another browser. After an error the
// basket stays, because the page says what is wrong with each item.
func (h *Handler) dropBought(req *ui.Request, wrong bool) (bought []string, err error) {
	if wrong {
		return nil, nil
	}
	left, bought, err := h.splitBought(req)
	if err == nil && len(bought) > 0 {
		_, err = req.SetBasket(left)
	}
	return bought, err
}

// splitBought returns the entries of the basket that are left without the domains that the customer
// holds or has just paid for, and the names of those.
func (h *Handler) splitBought(req *ui.Request) (left, bought []string, err error) {
	if !req.SignedIn || len(req.Basket()) == 0 {
		return req.Basket(), nil, nil
	}
	orders, err := h.Orders.List(req.R.Context(), req.Actor(), "", newestOrders)
	if err != nil {
		return nil, nil, err
	}
	paid := make(map[string]bool)
	for _, o := range orders {
		for _, item := range o.Items {
			paid[item.Name] = paid[item.Name] || o.State == order.Provisioning && item.State == order.ItemProvisioning
		}
	}
	nameOf := func(item string) string {
		_, name, _ := strings.Cut(item, ":")
		return name
	}
	var names []string
	for _, item := range req.Basket() {
		names = append(names, nameOf(item))
	}
	held, err := h.heldDomains(req, names)
	for _, item := range req.Basket() {
		if name := nameOf(item); held[name] != "" || paid[name] {
			bought = append(bought, ui.UnicodeName(name))
		} else {
			left = append(left, item)
		}
	}
	return left, bought, err
}

// CountBasket returns how many items the page of the basket shows, for the header of every other page.
func (h *Handler) CountBasket(req *ui.Request) int {
	left, _, err := h.splitBought(req)
	if err != nil {
		httpjson.RecordError(req.W, err)
		left = req.Basket()
	}
	return len(h.parseItems(left))
}

// writeBasketCount is for our script, if the basket may have changed since a page was rendered.
func (h *Handler) writeBasketCount(req *ui.Request, _ []byte) (any, error) {
	return map[string]int{"count": h.CountBasket(req)}, nil
}

// newestOrders limits how many orders the basket looks at.
const newestOrders = 5

// openOrder returns the customer's newest order awaiting payment: after going back from
// it the basket is empty, and the page links to the order.
func (h *Handler) openOrder(req *ui.Request) (string, error) {
	orders, err := h.Orders.List(req.R.Context(), req.Actor(), "", newestOrders)
	if err != nil {
		return "", err
	}
	for _, o := range orders {
		if o.State.Open() && o.Channel == order.ChannelPortal {
			return h.orderPayPath(o)
		}
	}
	return "", nil
}

// addToBasket adds a name: one offered by a search result, or one typed for a transfer.
// A name is in the basket once, with the kind requested last.
func (h *Handler) addToBasket(req *ui.Request) error {
	item, typed := req.Field("item"), req.Text("domain")
	if item == "" {
		item = string(order.Transfer) + ":" + typed
		if typed == "" {
			typed = " "
		}
	}
	added, err := h.parseItem(item)
	if err == nil {
		ext, _ := h.Extension(added.name.TLD())
		err = saleError(ext, added.kind)
	}
	if err == nil {
		fits := false
		if fits, err = req.SetBasket(withItem(req.Basket(), added)); err != nil {
			return err
		}
		if !fits {
			err = &registrar.Error{Kind: registrar.KindConflict, Code: basketFull}
			typed = ""
		}
	}
	forScript := req.Field("part") != ""
	switch {
	case err != nil && forScript:
		return h.writeScriptProblem(req, err)
	case err != nil:
		return h.showBasket(req, err, typed)
	case forScript:
		count := h.CountBasket(req)
		httpjson.WriteJSON(req.W, http.StatusOK, map[string]any{
			"count": count, "go": ui.BasketPathIn(req.Language),
			"label": h.templates.Text(req.Language, "basket.collected"), "text": h.basketNow(req, added.name, count),
		})
		return nil
	}
	return req.SeeOther(ui.BasketPathIn(req.Language))
}

// canOrderAgain reports whether orderAgain accepts an order: one that ended without a payment.
func canOrderAgain(o order.Order) bool {
	return (o.State == order.Expired || o.State == order.Canceled) && o.PaidAt.IsZero() && len(o.Items) > 0 && len(o.Items) <= ui.MaxBasketItems
}

const renewalsRefused registrar.Code = "renewals_refused"

// orderAgain puts the items of an order that ended without a payment into the basket again.
// Renewals and restores go into the renewal basket, which is an order itself.
func (h *Handler) orderAgain(req *ui.Request) error {
	o, err := h.Orders.Get(req.R.Context(), req.Actor(), req.Field("order"))
	if err != nil {
		return err
	}
	if !canOrderAgain(o) {
		return req.SeeOther(ui.OrdersPath + "/" + url.PathEscape(o.ID))
	}
	items, renewals, omitted := slices.Clone(req.Basket()), []order.RequestedItem(nil), false
	for _, item := range o.Items {
		entry := basketItem{name: registrar.NewName(strings.TrimSuffix(item.Name, item.TLD), item.TLD), kind: item.Kind}
		switch item.Kind {
		case order.Renew:
			renewals = append(renewals, order.RequestedItem{Name: entry.name, Kind: item.Kind, Years: item.Years})
			continue
		case order.Restore: // its years depend on the day
			renewals = append(renewals, order.RequestedItem{Name: entry.name, Kind: item.Kind})
			continue
		case order.Register:
			entry.years = item.Years
			if !item.PremiumFee.IsZero() {
				ext, _ := h.Extension(item.TLD) // the order has the prices of whole terms
				term := registrar.Cents(ext.Term())
				entry.renew = item.PremiumRenewal / term
				entry.register = (item.Net - entry.renew*(registrar.Cents(item.Years)-term)) / term
			}
		case order.Transfer:
		}
		if entry, err = h.parseItem(entry.String()); err != nil { // its extension is no longer listed
			omitted = true
			continue
		}
		items = withItem(items, entry)
	}
	fits, err := req.SetBasket(items)
	switch {
	case err != nil:
		return err
	case !fits:
		return h.showBasket(req, &registrar.Error{Kind: registrar.KindConflict, Code: basketFull}, "")
	}
	page := ui.BasketPathIn(req.Language)
	if len(renewals) > 0 {
		basket, refused, err := h.Orders.AddRenewals(req.R.Context(), req.Actor(), renewals)
		var none *order.ItemsRefused
		switch {
		case errors.As(err, &none): // not about the items that the basket shows
			return h.showBasket(req, &registrar.Error{Kind: registrar.KindConflict, Code: renewalsRefused}, "")
		case err != nil:
			return h.showBasket(req, err, "")
		case len(renewals) == len(o.Items):
			if page, err = h.payPath(basket); err != nil {
				return err
			}
		}
		omitted = omitted || len(refused) > 0
	}
	switch mixed := len(renewals) > 0 && len(renewals) < len(o.Items); {
	case mixed && omitted:
		req.Flash("again_partly_split")
	case mixed:
		req.Flash("again_split")
	case omitted:
		req.Flash("again_partly")
	}
	return req.SeeOther(page)
}

// basketNow announces the item that was added.
func (h *Handler) basketNow(req *ui.Request, added registrar.Name, items int) string {
	key := "basket.now"
	if items == 1 {
		key = "basket.now_one"
	}
	return h.templates.Text(req.Language, key, ui.UnicodeName(added.ASCII()), items)
}

func (h *Handler) writeScriptProblem(req *ui.Request, err error) error {
	key, known := h.basketProblem(err)
	if !known {
		return err
	}
	httpjson.RecordError(req.W, err)
	httpjson.WriteJSON(req.W, http.StatusConflict, map[string]any{"error": h.templates.Text(req.Language, key)})
	return nil
}

func (h *Handler) removeFromBasket(req *ui.Request) error {
	removed := req.R.PostForm["item"]
	if _, err := req.SetBasket(slices.DeleteFunc(slices.Clone(req.Basket()), func(item string) bool { return slices.Contains(removed, item) })); err != nil {
		return err
	}
	return req.SeeOther(ui.BasketPathIn(req.Language))
}

// setTerms changes the terms of registrations and shows their prices.
func (h *Handler) setTerms(req *ui.Request) error {
	changed, err := h.applyTerms(req)
	if err != nil {
		return h.showBasket(req, err, "")
	}
	page := ui.BasketPathIn(req.Language)
	if changed != "" {
		page += "#years-" + changed // the keyboard stays there
	}
	return req.SeeOther(page)
}

// ApplyTerms stores the terms that were chosen in the basket, before it is ordered.
func (h *Handler) ApplyTerms(req *ui.Request) error {
	_, err := h.applyTerms(req)
	return err
}

// applyTerms returns the name of the last registration whose term was changed. A term that is not
// sold becomes the shortest. Items that were removed in another window are ignored.
func (h *Handler) applyTerms(req *ui.Request) (changed string, err error) {
	items, years := slices.Clone(req.Basket()), req.R.PostForm["years"]
	for i, item := range req.R.PostForm["item"] {
		at := slices.Index(items, item)
		if at < 0 || i >= len(years) {
			continue
		}
		entry, err := h.parseItem(item)
		if err != nil {
			return "", err
		}
		if entry.years, err = strconv.Atoi(years[i]); err != nil || entry.kind != order.Register {
			return "", &registrar.Error{Kind: registrar.KindInvalid, Code: provision.TermNotSold}
		}
		if chosen := h.withSoldTerm(entry).String(); chosen != item {
			items[at], changed = chosen, entry.name.ASCII()
		}
	}
	if changed == "" {
		return "", nil
	}
	fits, err := req.SetBasket(items)
	if err == nil && !fits {
		err = &registrar.Error{Kind: registrar.KindConflict, Code: basketFull}
	}
	return changed, err
}
