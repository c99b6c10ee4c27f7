package portal

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
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

	Method(ctx context.Context, actor registrar.Actor) (renewal.SavedMethod, error)
	BeginMethodSetup(ctx context.Context, actor registrar.Actor, donePath, backPath string) (url string, err error)
	FinishMethodSetup(ctx context.Context, actor registrar.Actor, session string) (saved bool, err error)
	RemoveMethod(ctx context.Context, actor registrar.Actor) error
}

const (
	methodsPath    = ui.PaymentMethodsPath
	autoRenewStep  = "/auto-renew"
	forDomainQuery = "domain" // the domain to return to after a payment method was added
)

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
	case registrar.CodeOf(err) == renewal.NotRenewable:
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

// methodsView is the page of the saved payment method.
type methodsView struct {
	renewal.SavedMethod
	Domain  string // to return to; empty if there is none
	Problem string
}

func (h *Handler) paymentMethods(req *ui.Request) error { return h.renderMethods(req, nil) }

func (h *Handler) renderMethods(req *ui.Request, problem error) error {
	status, message := http.StatusOK, ""
	if problem != nil {
		var known bool
		if message, known = h.problem(req, problem); !known {
			if registrar.KindOf(problem) != registrar.KindUpstream {
				return problem
			}
			message = h.templates.Text(req.Language, "problem.provider_unreachable")
		}
		status = http.StatusConflict
		if registrar.KindOf(problem) == registrar.KindUpstream {
			status = http.StatusServiceUnavailable
		}
		httpjson.RecordError(req.W, problem)
	}
	method, err := h.Renewals.Method(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	req.AllowExternalFormAction() // the button leads to the payment provider
	return h.templates.Render(req, ui.View{Name: "methods", Status: status, Title: "methods.title", Section: methodsPath, Data: methodsView{
		SavedMethod: method, Domain: ownDomainID(req.Query(forDomainQuery)), Problem: message,
	}})
}

// ownDomainID returns text if it can be a domain's id: it becomes part of a path.
func ownDomainID(text string) string { return plainID(text, 64) }

// plainID returns text if it is a short word, as ids are, and otherwise an empty one.
func plainID(text string, longest int) string {
	for _, r := range text {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' {
			return ""
		}
	}
	if len(text) > longest {
		return ""
	}
	return text
}

// addMethod redirects to the provider's page.
func (h *Handler) addMethod(req *ui.Request) error {
	req.AllowExternalFormAction()
	if h.MethodLimit != nil {
		if wait := h.MethodLimit(req.Actor().Customer); wait > 0 {
			return &registrar.Error{Kind: registrar.KindRateLimited, Code: "payment_methods", RetryAfter: wait}
		}
	}
	done, back := methodsPath+"/saved?session="+renewal.SessionPlaceholder, methodsPath
	if domain := ownDomainID(req.Field(forDomainQuery)); domain != "" {
		done += "&" + forDomainQuery + "=" + domain
		back = domainPath(domain) + autoRenewStep
	}
	to, err := h.Renewals.BeginMethodSetup(req.R.Context(), req.Actor(), done, back)
	if err != nil {
		return h.renderMethods(req, err)
	}
	return req.SeeOther(to)
}

// methodSaved is where the provider redirects after a method was entered. The address only
// names the page; what the provider reports about it counts. The webhook does the same, so
// on an error the page just shows what is saved.
func (h *Handler) methodSaved(req *ui.Request) error {
	saved, err := h.Renewals.FinishMethodSetup(req.R.Context(), req.Actor(), plainID(req.Query("session"), 200))
	if err != nil {
		httpjson.RecordError(req.W, err)
	}
	if saved {
		req.Flash("method_saved")
	}
	if domain := ownDomainID(req.Query(forDomainQuery)); domain != "" {
		return req.SeeOther(domainPath(domain) + autoRenewStep)
	}
	return req.SeeOther(methodsPath)
}

func (h *Handler) removeMethod(req *ui.Request) error {
	if err := h.Renewals.RemoveMethod(req.R.Context(), req.Actor()); err != nil {
		return h.renderMethods(req, err)
	}
	return req.RedirectWithFlash("method_removed", methodsPath)
}
