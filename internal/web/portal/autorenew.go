package portal

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Renewals is renewal.Consents.
type Renewals interface {
	Offer(ctx context.Context, actor registrar.Actor, domain string) (renewal.Offer, error)
	Agree(ctx context.Context, actor registrar.Actor, domain string, agreed renewal.Agreement) error
	TurnOff(ctx context.Context, actor registrar.Actor, domain string) error
	LetExpire(ctx context.Context, actor registrar.Actor, domain string) error
	KeepOpen(ctx context.Context, actor registrar.Actor, domain string) error

	Methods(ctx context.Context, actor registrar.Actor) (renewal.Methods, error)
	BeginMethodSetup(ctx context.Context, actor registrar.Actor, asDefault bool, donePath, backPath string) (url string, err error)
	FinishMethodSetup(ctx context.Context, actor registrar.Actor, session string) (saved bool, err error)
	SetDefaultMethod(ctx context.Context, actor registrar.Actor, id, shown string) error
	RemoveMethod(ctx context.Context, actor registrar.Actor, id, shown, next string) error
}

const autoRenewStep = "/auto-renew"

// agreeMissing (KindInvalid): the box was not ticked.
const agreeMissing registrar.Code = "agree_missing"

// withRenewals is for pages that exist only if orders are possible.
func (h *Handler) withRenewals(page ui.PageFunc) ui.PageFunc {
	return func(req *ui.Request) error {
		if h.Renewals == nil {
			return noSuchDomain()
		}
		return page(req)
	}
}

// autoRenewView is the page on which a customer agrees to automatic renewal.
type autoRenewView struct {
	renewal.Offer
	Path, Page    string // of the domain and of this page
	Wording, Text string
	ChargeDay     string // as submitted
	Problem       string
}

// showAutoRenew shows the offer: price, day, payment method and text.
func (h *Handler) showAutoRenew(req *ui.Request) error { return h.renderAutoRenew(req, nil) }

func (h *Handler) renderAutoRenew(req *ui.Request, problem error) error {
	id := req.R.PathValue("id")
	status, message := http.StatusOK, ""
	if problem != nil {
		var known bool
		if message, known = h.problem(req, problem); !known {
			return problem
		}
		status = http.StatusConflict
		httpjson.RecordError(req.W, problem)
	}
	offer, err := h.Renewals.Offer(req.R.Context(), req.Actor(), id)
	switch {
	case registrar.CodeOf(err) == renewal.NotRenewable, registrar.CodeOf(err) == withdrawal.NoticeOpen:
		return h.domainProblem(req, err)
	case err != nil:
		return err
	case offer.On && problem == nil:
		return req.SeeOther(domainPath(id))
	}
	wording := renewal.ConsentWording(req.Language)
	req.AllowExternalFormAction() // a payment method is added at the provider
	return h.templates.Render(req, ui.View{Name: "autorenew", Status: status, Title: "auto_renew.title", TitleValue: title(offer.Name), Section: domainsPath, Data: autoRenewView{
		Offer: offer, Path: domainPath(id), Page: domainPath(id) + autoRenewStep, Wording: wording, Text: renewal.ConsentText(wording),
		ChargeDay: offer.ChargeAt.UTC().Format(time.DateOnly), Problem: message,
	}})
}

// agreeToRenewal turns automatic renewal on if the customer saw the current offer.
func (h *Handler) agreeToRenewal(req *ui.Request) error {
	gross, err := strconv.ParseInt(req.Field("gross"), 10, 64)
	if err != nil {
		return invalidForm()
	}
	day, err := time.Parse(time.DateOnly, req.Field("charge_day"))
	if err != nil {
		return invalidForm()
	}
	id := req.R.PathValue("id")
	if req.Field("agree") != "on" {
		return h.renderAutoRenew(req, &registrar.Error{Kind: registrar.KindInvalid, Code: agreeMissing})
	}
	err = h.Renewals.Agree(req.R.Context(), req.Actor(), id, renewal.Agreement{
		Wording: req.Field("wording"), Gross: registrar.Cents(gross), ChargeAt: day, Method: req.Field("method"),
	})
	if err != nil {
		return h.renderAutoRenew(req, err)
	}
	return req.RedirectWithFlash("auto_renew_on", domainPath(id))
}

// termEndAction is a button on a domain's page or in the list.
func (h *Handler) termEndAction(flash string, act func(Renewals, context.Context, registrar.Actor, string) error) ui.PageFunc {
	return func(req *ui.Request) error {
		id := req.R.PathValue("id")
		if err := act(h.Renewals, req.R.Context(), req.Actor(), id); err != nil {
			return h.domainProblem(req, err)
		}
		page := domainPath(id)
		if req.Field("page") == "list" {
			page = domainsPath
		}
		return req.RedirectWithFlash(flash, page)
	}
}

// domainProblem shows a domain's page with an error. Errors without a text are returned.
func (h *Handler) domainProblem(req *ui.Request, err error) error {
	message, known := h.problem(req, err)
	if !known {
		return err
	}
	httpjson.RecordError(req.W, err)
	return h.showDomain(req, http.StatusConflict, domainView{DS: dsField, Problem: message})
}
