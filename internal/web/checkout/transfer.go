package checkout

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// maxTransferBytes bounds the form with a list of transfers, or its CSV file.
const maxTransferBytes = 256 << 10

// transferEmpty (KindInvalid): no line was entered.
const transferEmpty registrar.Code = "transfer_empty"

// transferNoRows (KindInvalid): the file has no domains.
const transferNoRows registrar.Code = "transfer_no_rows"

// transferNoCodes (KindInvalid): the header of a table names no column of auth codes.
const transferNoCodes registrar.Code = "transfer_no_codes"

// transferNoText (KindInvalid): the file is not a CSV file.
const transferNoText registrar.Code = "transfer_no_text"

// transferPrice is what a transfer of an extension costs and includes.
type transferPrice struct {
	TLD                string
	Gross, Net, Later  registrar.Cents
	IncludesKey        string
	Years, Days        int
	ReasonKey          string // why it can't be ordered
	Free, NotAvailable bool
}

type transferPage struct {
	Action, SignIn, Prices string
	Register               string // returns to this page after the mailed link
	Contact                string // the contact form; empty if there is none
	Rows                   []transferPrice
	Rate                   string
	Single                 ui.Field
	Problem                string
	// Good and Bad are the lines of the customer's list, Unlisted those just entered that are not
	// stored. The sums are those of Good.
	Good, Bad       []transferLine
	Unlisted        []transferLine
	Locked          bool // of Bad, some domains have a transfer lock
	Counts          order.ListedCounts
	Listed          int // lines that are stored
	Net, VAT, Gross registrar.Cents
	VATRate         string // the customer's
	PricesKey       string // explains the prices
	Repeated        int    // lines that were entered twice in the same way
	// Holder is who will hold the domains; NewHolder is the form for another one.
	Holder    holderChoice
	NewHolder string
	// Max bounds an order, MaxListed the list.
	Max, MaxListed int
	Identity       order.IdentityCheck // what an order of Good requires
}

func transferPath(language string) string {
	return ui.InLanguage(language, ui.TransferPath, ui.EnglishTransferPath)
}

func (h *Handler) transferPage(language string) http.HandlerFunc {
	return h.Frame.Page(func(req *ui.Request) error {
		req.PreferLanguage(language)
		var lines []transferLine
		if req.SignedIn {
			list, err := h.Orders.TransferList(req.R.Context(), req.Actor())
			if err != nil {
				return err
			}
			lines = h.listedLines(list)
		}
		return h.showTransfer(req, lines, 0, "", http.StatusOK)
	})
}

func (h *Handler) showTransfer(req *ui.Request, lines []transferLine, repeated int, problem string, status int) error {
	req.SetFormPath(transferPath(req.Language))
	shown := transferPage{Action: transferPath(req.Language), Problem: problem, Repeated: repeated, Max: order.MaxPortalItems, MaxListed: order.MaxListedTransfers}
	for _, line := range lines {
		switch {
		case line.OK:
			shown.Good = append(shown.Good, line)
		case line.Listed():
			shown.Bad = append(shown.Bad, line)
		default:
			shown.Unlisted = append(shown.Unlisted, line)
		}
	}
	listed := newListed(lines)
	shown.Counts, shown.Listed = order.CountListed(listed), len(listed)
	sortTransferLines(shown.Good)
	sortTransferLines(shown.Bad)
	sortTransferLines(shown.Unlisted)
	shown.Locked = someLocked(shown.Bad)
	if len(shown.Good) > 0 {
		tax, err := h.Orders.VATRate(req.R.Context(), req.Actor())
		if err != nil {
			return err
		}
		shown.addPrices(tax.RateBasisPoints)
		for i := range shown.Good {
			line := &shown.Good[i]
			line.Years, _ = h.TransferTerms(line.name.TLD())
			line.IncludesKey = transferTermKey(line.name.TLD(), line.Years)
		}
		shown.VATRate, shown.PricesKey = formatRate(req.Language, tax.RateBasisPoints), "transfer.good_text"
		switch {
		case tax.Rule == billing.RuleReverseCharge:
			shown.PricesKey = "transfer.good_text_reverse"
		case tax.Rule == billing.RuleOutsideEU:
			shown.PricesKey = "transfer.good_text_untaxed"
		}
		if shown.Identity, err = h.Orders.ExpectedIdentityCheck(req.R.Context(), req.Actor(), shown.Gross, false); err != nil {
			return err
		}
	}
	if req.SignedIn {
		options, err := h.holderOptions(req)
		if err != nil {
			return err
		}
		shown.Holder = holderChoice{Form: "list", Options: options, Current: cmp.Or(req.Field(oneHolderField), holder.Own)}
		shown.NewHolder = ui.WithNext(ui.HoldersPath+"/new", shown.Action)
	}
	if h.Frame.HasContact() {
		shown.Contact = ui.InLanguage(req.Language, ui.ContactPath, ui.EnglishContactPath)
	}
	shown.Register = ui.WithNext("/portal/register", shown.Action)
	shown.SignIn, shown.Prices = ui.WithNext(ui.SignInPath, shown.Action), ui.InLanguage(req.Language, ui.PricesPath, ui.EnglishPricesPath)
	rate := h.RateBasisPoints(h.Now())
	shown.Rate = formatRate(req.Language, rate)
	for _, tld := range lookup.DefaultExtensions() {
		if ext, listed := h.Extension(tld); listed {
			shown.Rows = append(shown.Rows, h.transferPriceOf(ext, rate))
		}
	}
	shown.Single = ui.Field{Name: "domain", Label: "basket.transfer.label", Type: "text", Autocomplete: "off", MaxLength: 260}
	return h.templates.Render(req, ui.View{
		Name: "transfer", Status: status, Title: "transfer.title", Section: shown.Action, Public: "transfer.description", Data: shown,
	})
}

// addPrices adds the gross price of each good line and the sums of an order of all of them,
// whenever each line was checked.
func (p *transferPage) addPrices(rate int) {
	for i, line := range p.Good {
		p.Good[i].Gross = billing.Gross(line.Net, rate)
		p.Net += line.Net
	}
	p.Gross = billing.Gross(p.Net, rate)
	p.VAT = p.Gross - p.Net
}

func (h *Handler) transferPriceOf(ext registrar.Extension, rate int) transferPrice {
	years, days := h.TransferTerms(ext.TLD)
	row := transferPrice{
		TLD: ext.TLD, Net: ext.Transfer, Gross: billing.Gross(ext.Transfer, rate), Later: billing.Gross(ext.Renew, rate), Years: years, Days: days,
		IncludesKey: transferTermKey(ext.TLD, years), Free: ext.Transfer == 0,
	}
	if err := saleError(ext, order.Transfer); err != nil {
		row.NotAvailable, row.ReasonKey = true, h.refusedKey(order.Transfer, err)
	}
	return row
}

// transferTermKey is the text key of the term after a transfer that adds so many years.
func transferTermKey(tld string, years int) string {
	switch {
	case years == 1:
		return "transfer.includes.year"
	case years > 1:
		return "transfer.includes.years"
	case lifecycle.PolicyOf(tld).AtExpiry == lifecycle.RegistryNoTerm: // ours starts with the transfer
		return "transfer.includes.year_from_now"
	default:
		return transferKeepsRest
	}
}

// transferKeepsRest is the text key of a transfer that adds nothing to the term.
const transferKeepsRest = "transfer.includes.rest"

// orderTransfers changes the customer's list of transfers: it adds lines, checks all of them, or
// orders those that the last check accepted. If every line is right, they become one order, unless the
// form asks to stay on the list; otherwise the page says what is wrong with each, and nothing is ordered.
func (h *Handler) orderTransfers(req *ui.Request) error {
	req.SetFormPath(transferPath(req.Language))
	if !req.SignedIn {
		return req.RedirectToSignIn(ui.SignInPath)
	}
	if err := req.ReadForm(); err != nil {
		return err
	}
	ctx, actor := req.R.Context(), req.Actor()
	list, err := h.Orders.TransferList(ctx, actor)
	if err != nil {
		return err
	}
	if req.Field("clear") != "" {
		if err := h.Orders.ReplaceTransfers(ctx, actor, namesOf(list), nil); err != nil {
			return err
		}
		return req.SeeOther(transferPath(req.Language))
	}
	lines, rest, err := h.transferLines(req, h.listedLines(list))
	if err != nil {
		return h.showTransferProblem(req, h.listedLines(list), 0, err)
	}
	if name := req.Field("remove"); name != "" {
		return h.removeTransfer(req, name, list, append(lines, rest...))
	}
	entered, before := len(lines), slices.Clone(lines)
	lines = h.checkTransferLines(lines)
	repeated := entered - len(lines)
	request := order.Request{Channel: order.ChannelPortal}
	chosen := req.Field(oneHolderField)
	if chosen == holder.Own {
		chosen = ""
	}
	for _, line := range lines {
		if line.ReasonKey == "" {
			request.Items = append(request.Items, order.RequestedItem{Name: line.name, Kind: order.Transfer, Code: line.code, Holder: chosen})
		}
	}
	var problem error
	if len(request.Items) > 0 {
		request.DryRun = req.Field("stay") != "" || len(request.Items) < len(lines)
		view, err := h.prepareTransfers(req, request)
		if err == nil && !request.DryRun {
			return h.openTransferOrder(req, view.Order, rest)
		}
		problem = h.markTransferLines(req, lines, before, view.Order, err)
	}
	lines = append(lines, rest...)
	if err := h.Orders.ReplaceTransfers(ctx, actor, namesOf(list), newListed(lines)); err != nil {
		problem = err
	}
	if problem == nil && repeated == 0 && !slices.ContainsFunc(lines, func(line transferLine) bool { return !line.OK }) {
		return req.SeeOther(transferPath(req.Language))
	}
	return h.showTransferProblem(req, lines, repeated, problem)
}

// removeTransfer removes a line from the list and stores what else the form has.
func (h *Handler) removeTransfer(req *ui.Request, name string, list []order.ListedTransfer, lines []transferLine) error {
	lines = slices.DeleteFunc(lines, func(line transferLine) bool { return line.Domain == name && line.Number == 0 })
	if err := h.Orders.ReplaceTransfers(req.R.Context(), req.Actor(), namesOf(list), newListed(lines)); err != nil {
		return h.showTransferProblem(req, h.listedLines(list), 0, err)
	}
	if slices.ContainsFunc(lines, func(line transferLine) bool { return line.Number > 0 && !line.Listed() }) {
		return h.showTransfer(req, lines, 0, "", http.StatusUnprocessableEntity) // says what is not stored
	}
	return req.SeeOther(transferPath(req.Language))
}

// prepareTransfers asks the registry, which verifies the codes; without a limit they could be
// guessed.
func (h *Handler) prepareTransfers(req *ui.Request, request order.Request) (order.View, error) {
	if wait := h.AuthCodeLimit(req.Actor().Customer); wait > 0 {
		return order.View{}, &registrar.Error{Kind: registrar.KindRateLimited, Code: order.OverBudget, RetryAfter: wait}
	}
	return h.Orders.Prepare(req.R.Context(), req.Actor(), request)
}

// openTransferOrder removes what was ordered from the list, stores the rest and leads to the
// payment. The order has the codes, so a list that could not be changed only shows lines too many.
func (h *Handler) openTransferOrder(req *ui.Request, o order.Order, rest []transferLine) error {
	ordered := make([]string, len(o.Items))
	for i, item := range o.Items {
		ordered[i] = item.Name
	}
	if err := h.Orders.ReplaceTransfers(req.R.Context(), req.Actor(), ordered, newListed(rest)); err != nil {
		httpjson.RecordError(req.W, err)
	}
	page, err := h.payPath(o)
	if err != nil {
		return err
	}
	return req.SeeOther(page)
}

// transferLines returns the lines to check: those of the list, with the codes that were entered
// for them, and new ones from the field or a file. If only the accepted ones are to be ordered, or
// one is to be removed, the others are the rest; they are not checked with the registry.
func (h *Handler) transferLines(req *ui.Request, list []transferLine) (lines, rest []transferLine, err error) {
	for _, line := range list {
		if code := strings.TrimSpace(req.Field("code." + line.Domain)); code != "" {
			line.code, line.OK, line.ReasonKey = code, false, ""
		}
		lines = append(lines, line)
	}
	entered, problem := splitTransferLines(req.Field("lines"))
	if file, _, err := req.R.FormFile("file"); err == nil {
		body, err := io.ReadAll(io.LimitReader(file, maxTransferBytes))
		if err != nil {
			return nil, nil, &registrar.Error{Kind: registrar.KindInvalid, Code: ui.BadForm}
		}
		// On its own, because it may have a header.
		text, readable := decodeText(body)
		if !readable {
			return nil, nil, &registrar.Error{Kind: registrar.KindInvalid, Code: transferNoText}
		}
		rows, wrong := splitTransferLines(text)
		if wrong == "" && len(rows) == 0 {
			wrong = transferNoRows
		}
		entered, problem = append(entered, rows...), cmp.Or(problem, wrong)
	}
	if problem != "" {
		return nil, nil, &registrar.Error{Kind: registrar.KindInvalid, Code: problem}
	}
	h.unswap(entered)
	// A line that is entered again replaces the one of the list, unless only that one has a code.
	lines = slices.DeleteFunc(lines, func(old transferLine) bool {
		return slices.ContainsFunc(entered, func(line transferLine) bool {
			name, err := h.parseName(line.Domain)
			return err == nil && name.ASCII() == old.Domain && (line.code != "" || old.code == "")
		})
	})
	if req.Field("only") != "" || req.Field("remove") != "" {
		for _, line := range lines {
			if !line.OK {
				rest = append(rest, line)
			}
		}
		lines = slices.DeleteFunc(lines, func(line transferLine) bool { return !line.OK })
		rest = append(rest, h.checkTransferLines(entered)...)
		if len(lines)+len(rest) > order.MaxListedTransfers {
			return nil, nil, &registrar.Error{Kind: registrar.KindInvalid, Code: order.TransferListFull}
		}
		return lines, rest, nil
	}
	lines = append(lines, entered...)
	switch {
	case len(lines) > order.MaxListedTransfers:
		return nil, nil, &registrar.Error{Kind: registrar.KindInvalid, Code: order.TransferListFull}
	case len(lines) == 0:
		return nil, nil, &registrar.Error{Kind: registrar.KindInvalid, Code: transferEmpty}
	}
	return lines, nil, nil
}

// markTransferLines notes at each line what the registry said about it, or what it costs. If it
// did not respond, what it said before remains, if the code is the same. It returns the error if
// it is about the whole.
func (h *Handler) markTransferLines(req *ui.Request, lines, before []transferLine, priced order.Order, err error) error {
	var refused *order.ItemsRefused
	var unquoted *order.ItemsUnquoted
	var items []order.RefusedItem
	switch {
	case errors.As(err, &refused):
		items = slices.Concat(refused.Items, refused.Unquoted)
	case errors.As(err, &unquoted):
		items = unquoted.Items
	case err != nil:
		return err
	}
	for i := range lines {
		line := &lines[i]
		if line.ReasonKey != "" {
			continue
		}
		if at := slices.IndexFunc(priced.Items, func(item order.Item) bool { return item.Name == line.Domain }); at >= 0 {
			line.OK, line.Net, line.Gross = true, priced.Items[at].Net, priced.Items[at].Gross
		}
		at := slices.IndexFunc(items, func(item order.RefusedItem) bool { return item.Name == line.Domain })
		if at < 0 {
			continue
		}
		if registrar.KindOf(items[at].Reason) == registrar.KindUpstream {
			was := slices.IndexFunc(before, func(old transferLine) bool { return old.Domain == line.Domain && old.code == line.code })
			if was >= 0 && (before[was].OK || before[was].ReasonKey != "") {
				line.OK, line.ReasonKey, line.Net, line.Gross = before[was].OK, before[was].ReasonKey, before[was].Net, before[was].Gross
				continue
			}
		}
		line.ReasonKey = h.withoutLock(h.refusedKey(order.Transfer, items[at].Reason), line.name.TLD())
		if key, page := h.ownDomain(req, order.Transfer, line.Domain, items[at].Reason); page != "" {
			line.ReasonKey, line.Own = key, page
		}
		if registrar.CodeOf(items[at].Reason) == provision.WrongCode {
			h.AuthCodeLimit(req.Actor().Customer) // each wrong code is an attempt
			line.code = ""
		}
	}
	if err != nil {
		httpjson.RecordError(req.W, err)
	}
	return nil
}

// showTransferProblem shows the page again with what is wrong.
func (h *Handler) showTransferProblem(req *ui.Request, lines []transferLine, repeated int, err error) error {
	if err == nil {
		return h.showTransfer(req, lines, repeated, "", http.StatusUnprocessableEntity)
	}
	key := "problem." + string(registrar.CodeOf(err))
	if registrar.CodeOf(err) == order.OverBudget {
		key = "problem.basket_asks"
	}
	if !h.templates.Has(key) {
		return err
	}
	httpjson.RecordError(req.W, err)
	status := http.StatusUnprocessableEntity
	wait, asked := req.SetRetryAfter(err)
	if asked {
		status = http.StatusTooManyRequests
	}
	return h.showTransfer(req, lines, repeated, h.templates.Text(req.Language, key, wait), status)
}
