package portal

import (
	"net/http"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/bulk"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const (
	methodsPath = ui.PaymentMethodsPath
	// The domain, or the action for several, to return to after a payment method was added or
	// chosen.
	forDomainQuery = "domain"
	forActionQuery = "action"
)

// methodsView is the page of the saved payment methods.
type methodsView struct {
	renewal.Methods
	Rows    []methodRow
	Others  []methodRow // those that can become the default
	Shown   string      // the id of the default
	Max     int
	Domain  string // to return to; empty if there is none
	Action  string // the same for several domains
	Problem string
}

// Full reports whether no other method can be added.
func (v methodsView) Full() bool { return len(v.Rows) >= v.Max }

type methodRow struct {
	renewal.SavedMethod
	Until     string // 04/2027; empty if unknown
	IsExpired bool
}

// Name distinguishes cards with the same last digits where the label stands alone.
func (r methodRow) Name() string {
	if r.Until == "" {
		return r.Label
	}
	return r.Label + " (" + r.Until + ")"
}

func (h *Handler) methodRows(saved []renewal.SavedMethod) []methodRow {
	rows := make([]methodRow, len(saved))
	for i, method := range saved {
		rows[i] = methodRow{SavedMethod: method, IsExpired: method.Expired(h.Now())}
		if month, err := time.Parse(order.ExpiresLayout, method.Expires); err == nil {
			rows[i].Until = month.Format("01/2006")
		}
	}
	return rows
}

// addExpiredMethod adds a line to what waits for the customer if domains renew with a card whose last
// month is over when charges that are announced now are made.
func (h *Handler) addExpiredMethod(req *ui.Request, view *overviewView) (added bool, err error) {
	if h.Renewals == nil {
		return false, nil
	}
	methods, err := h.Renewals.Methods(req.R.Context(), req.Actor())
	if err != nil || len(methods.Renewing) == 0 || !methods.Default().Expired(h.Now().AddDate(0, 1, 0)) {
		return false, err
	}
	row := h.methodRows([]renewal.SavedMethod{methods.Default()})[0]
	view.addDecision(overviewLine{Text: h.templates.Text(req.Language, "line.method_expires", row.Label, row.Until), URL: methodsPath, ActionKey: "do.method"})
	return true, nil
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
	methods, err := h.Renewals.Methods(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	view := methodsView{
		Methods: methods, Rows: h.methodRows(methods.Saved), Shown: methods.Default().ID, Max: renewal.MaxMethods,
		Domain: ownDomainID(req.Query(forDomainQuery)), Action: ownDomainID(req.Query(forActionQuery)), Problem: message,
	}
	for _, row := range view.Rows {
		if !row.Default {
			view.Others = append(view.Others, row)
		}
	}
	req.AllowExternalFormAction() // the button leads to the payment provider
	return h.templates.Render(req, ui.View{Name: "methods", Status: status, Title: "methods.title", Section: methodsPath, Data: view})
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
	domain, action := ownDomainID(req.Field(forDomainQuery)), ownDomainID(req.Field(forActionQuery))
	if ids := selectedDomains(req); len(ids) > 0 {
		var err error
		if action, err = h.Bulk.Keep(req.R.Context(), req.Actor(), bulk.AutoRenewOn, ids); err != nil {
			return err
		}
	}
	done, back := methodsPath+"/saved?session="+renewal.SessionPlaceholder, pageAfterMethod(domain, action)
	switch {
	case domain != "":
		done += "&" + forDomainQuery + "=" + domain
	case action != "":
		done += "&" + forActionQuery + "=" + action
	}
	to, err := h.Renewals.BeginMethodSetup(req.R.Context(), req.Actor(), req.Field("as_default") == "on", done, back)
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
	switch {
	case registrar.CodeOf(err) == renewal.TooManyMethods, registrar.CodeOf(err) == renewal.SetupReplaced:
		return h.renderMethods(req, err)
	case err != nil:
		httpjson.RecordError(req.W, err)
	}
	if saved {
		req.Flash("method_saved")
	}
	return req.SeeOther(pageAfterMethod(ownDomainID(req.Query(forDomainQuery)), ownDomainID(req.Query(forActionQuery))))
}

// pageAfterMethod is where a customer continues who has added or chosen a payment method for the
// automatic renewal of a domain, or for an action for several.
func pageAfterMethod(domain, action string) string {
	switch {
	case domain != "":
		return domainPath(domain) + autoRenewStep
	case action != "":
		return bulkPath + "/" + action
	default:
		return methodsPath
	}
}

// maxMethodID bounds the provider's ids in forms.
const maxMethodID = 200

func (h *Handler) setDefaultMethod(req *ui.Request) error {
	id, shown := plainID(req.Field("method"), maxMethodID), plainID(req.Field("shown"), maxMethodID)
	if err := h.Renewals.SetDefaultMethod(req.R.Context(), req.Actor(), id, shown); err != nil {
		return h.renderMethods(req, methodError(err))
	}
	page := pageAfterMethod(ownDomainID(req.Field(forDomainQuery)), ownDomainID(req.Field(forActionQuery)))
	return req.RedirectWithFlash("method_default", page)
}

func (h *Handler) removeMethod(req *ui.Request) error {
	id, shown, next := plainID(req.Field("method"), maxMethodID), plainID(req.Field("shown"), maxMethodID), plainID(req.Field("next"), maxMethodID)
	if err := h.Renewals.RemoveMethod(req.R.Context(), req.Actor(), id, shown, next); err != nil {
		return h.renderMethods(req, methodError(err))
	}
	return req.RedirectWithFlash("method_removed", methodsPath)
}

// methodError shows the current list for a method that is not saved, which another tab may have
// removed.
func methodError(err error) error {
	if registrar.CodeOf(err) == renewal.NoSuchMethod {
		return &registrar.Error{Kind: registrar.KindConflict, Code: renewal.MethodsChanged}
	}
	return err
}
