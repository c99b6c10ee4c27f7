package checkout

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// maxTransferBytes bounds the form with a list of transfers, or its CSV file.
const maxTransferBytes = 256 << 10

// What is wrong with a whole list.
const (
	transferListExpired registrar.Code = "transfer_list_expired"
	transferTooLong     registrar.Code = "transfer_too_long"
	transferEmpty       registrar.Code = "transfer_empty"
)

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
	Rows                   []transferPrice
	Rate                   string
	Single                 ui.Field
	Problem                string
	Lines                  []transferLine // of the last attempt
	Good, Bad              int
	// Kept are the correct lines, sealed; Again has the names of the others, without codes.
	Kept, Again string
	Max         int
}

func transferPath(language string) string {
	return ui.InLanguage(language, ui.TransferPath, ui.EnglishTransferPath)
}

func (h *Handler) transferPage(language string) http.HandlerFunc {
	return h.Frame.Page(func(req *ui.Request) error {
		req.PreferLanguage(language)
		return h.showTransfer(req, transferPage{}, http.StatusOK)
	})
}

func (h *Handler) showTransfer(req *ui.Request, shown transferPage, status int) error {
	req.SetFormPath(transferPath(req.Language))
	shown.Action, shown.Max = transferPath(req.Language), order.MaxPortalItems
	shown.SignIn, shown.Prices = ui.WithNext(ui.SignInPath, shown.Action), ui.InLanguage(req.Language, ui.PricesPath, ui.EnglishPricesPath)
	rate := h.RateBasisPoints(req.Now)
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

func (h *Handler) transferPriceOf(ext registrar.Extension, rate int) transferPrice {
	years, days := h.TransferTerms(ext.TLD)
	row := transferPrice{
		TLD: ext.TLD, Net: ext.Transfer, Gross: billing.Gross(ext.Transfer, rate), Later: billing.Gross(ext.Renew, rate), Years: years, Days: days,
		IncludesKey: transferTermKey(ext.TLD, years), Free: ext.Transfer == 0,
	}
	if err := saleError(ext, order.Transfer); err != nil {
		row.NotAvailable, row.ReasonKey = true, h.refusedKey(err)
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
		return "transfer.includes.rest"
	}
}

// orderTransfers checks a list of transfers and prepares one order for all of them. If lines are
// wrong, it shows what is wrong with each, and nothing is ordered.
func (h *Handler) orderTransfers(req *ui.Request) error {
	req.SetFormPath(transferPath(req.Language))
	if !req.SignedIn {
		return req.RedirectToSignIn(ui.SignInPath)
	}
	if err := req.ReadForm(); err != nil {
		return err
	}
	lines, problem := h.transferLines(req)
	h.checkTransferLines(lines)
	if problem != "" {
		return h.showTransferProblem(req, lines, &registrar.Error{Kind: registrar.KindInvalid, Code: problem})
	}
	request := order.Request{Channel: order.ChannelPortal}
	for _, line := range lines {
		if line.ReasonKey == "" {
			request.Items = append(request.Items, order.RequestedItem{Name: line.name, Kind: order.Transfer, Code: line.code})
		}
	}
	if len(request.Items) == 0 {
		return h.showTransferProblem(req, lines, nil)
	}
	// The codes are guessed at otherwise: the registry verifies them.
	if wait := h.AuthCodeLimit(req.Actor().Customer); wait > 0 {
		return h.showTransferProblem(req, lines, &registrar.Error{Kind: registrar.KindRateLimited, Code: order.OverBudget, RetryAfter: wait})
	}
	request.DryRun = len(request.Items) < len(lines)
	view, err := h.Orders.Prepare(req.R.Context(), req.Actor(), request)
	if err == nil && !request.DryRun {
		page, err := h.payPath(view.Order)
		if err != nil {
			return err
		}
		return req.SeeOther(page)
	}
	return h.showTransferProblem(req, lines, h.markTransferLines(req, lines, err))
}

// transferLines returns the lines of the form: those of an earlier attempt, and new ones from
// the field or a file. problem is the code of what is wrong with the whole.
func (h *Handler) transferLines(req *ui.Request) (lines []transferLine, problem registrar.Code) {
	onlyGood := req.Field("only") != ""
	if sealed := req.Field("kept"); sealed != "" {
		kept, ok := h.Orders.OpenTransfers(req.Actor(), sealed)
		if !ok {
			problem = transferListExpired
		}
		for _, line := range kept {
			if line.OK || !onlyGood {
				lines = append(lines, transferLine{Domain: line.Name, code: line.Code})
			}
		}
	}
	if onlyGood {
		return lines, problem
	}
	text := req.Field("lines")
	var fromFile []transferLine
	if file, _, err := req.R.FormFile("file"); err == nil {
		body, err := io.ReadAll(io.LimitReader(file, maxTransferBytes))
		if err != nil {
			return lines, ui.BadForm
		}
		// On its own, because it may have a header.
		rows, ok := splitTransferLines(strings.ToValidUTF8(string(body), "\ufffd"))
		if !ok {
			return lines, transferTooLong
		}
		fromFile = rows
	}
	entered, ok := splitTransferLines(text)
	entered = append(entered, fromFile...)
	switch {
	case !ok || len(entered) > maxTransferLines:
		return lines, transferTooLong
	case len(lines)+len(entered) == 0 && problem == "":
		return nil, transferEmpty
	}
	// A line that was corrected replaces the one of the earlier attempt.
	lines = slices.DeleteFunc(lines, func(old transferLine) bool {
		return slices.ContainsFunc(entered, func(line transferLine) bool { return strings.EqualFold(line.Domain, old.Domain) })
	})
	return append(lines, entered...), problem
}

// markTransferLines notes at each line what the registry said about it. It returns the error if
// it is about the whole.
func (h *Handler) markTransferLines(req *ui.Request, lines []transferLine, err error) error {
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
		line.OK = line.ReasonKey == ""
		at := slices.IndexFunc(items, func(item order.RefusedItem) bool { return line.OK && item.Name == line.Domain })
		if at < 0 {
			continue
		}
		line.OK, line.ReasonKey, line.Own = false, h.refusedKey(items[at].Reason), h.ownPath(req, line.Domain, items[at].Reason)
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

// showTransferProblem shows the page again with what is wrong. Lines with a code that may still
// be right are kept, sealed; of the others the names are entered again, without codes.
func (h *Handler) showTransferProblem(req *ui.Request, lines []transferLine, err error) error {
	shown, status := transferPage{Lines: lines}, http.StatusUnprocessableEntity
	if err != nil {
		key := "problem." + string(registrar.CodeOf(err))
		if registrar.CodeOf(err) == order.OverBudget {
			key = "problem.basket_asks"
		}
		if !h.templates.Has(key) {
			return err
		}
		httpjson.RecordError(req.W, err)
		wait, asked := req.SetRetryAfter(err)
		if asked {
			status = http.StatusTooManyRequests
		}
		shown.Problem = h.templates.Text(req.Language, key, wait)
	}
	var kept []order.ListedTransfer
	var again strings.Builder
	for _, line := range lines {
		if line.OK {
			shown.Good++
		} else if line.ReasonKey != "" {
			shown.Bad++
		}
		switch {
		case line.name.Label() != "" && line.code != "" && (line.ReasonKey == "" || line.ReasonKey == "reason.transfer_locked" || line.ReasonKey == "basket.unreachable"):
			kept = append(kept, order.ListedTransfer{Name: line.name.ASCII(), TLD: line.name.TLD(), Code: line.code, OK: line.OK})
		case line.ReasonKey != "transfer.duplicate" && line.Own == "" && line.Domain != "":
			again.WriteString(line.Domain + "\n")
		}
	}
	shown.Again = again.String()
	if len(kept) > 0 {
		var err error
		if shown.Kept, err = h.Orders.SealTransfers(req.Actor(), kept); err != nil {
			return err
		}
	}
	return h.showTransfer(req, shown, status)
}
