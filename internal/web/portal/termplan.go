package portal

import (
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// planText says what happens to a domain that nobody renews, on the days that the mails name; empty if
// its end is unknown or an operator decides.
func (h *Handler) planText(req *ui.Request, d portfolio.Domain, expire bool) string {
	plan := lifecycle.PlanFor(d.TLD, d.PaidUntil, expire, h.Now())
	if d.PaidUntil.IsZero() || plan.DeleteAt.IsZero() {
		return ""
	}
	key, days := "term.plan."+string(plan.Action), []any{ui.FormatDate(req.Language, plan.DeleteAt)}
	if !plan.HoldAt.IsZero() {
		key, days = key+".hold", append(days, ui.FormatDate(req.Language, plan.HoldAt))
	}
	return h.templates.Text(req.Language, key, days...)
}

// expirePlanText says what a customer agrees to who lets a domain expire; empty without a plan.
func (h *Handler) expirePlanText(req *ui.Request, d portfolio.Domain, end termEnd) string {
	plan := h.planText(req, d, true)
	if plan == "" {
		return ""
	}
	action := lifecycle.ActionOnExpiry(d.TLD)
	text := func(key string) string { return h.templates.Text(req.Language, "term.let_expire."+key) }
	parts := []string{text("none"), plan, text("agree." + string(action))}
	if end.UndoUntil.IsZero() {
		parts = append(parts, text("undo."+string(action)))
	}
	return strings.Join(parts, " ")
}

var termPlanTexts = ui.Texts{
	"term.plan.delete": {"Ohne Verlängerung löschen wir die Domain frühestens am {1}.", "Without a renewal, we delete the domain on {1} at the earliest."},
	"term.plan.delete.hold": {
		"Ohne Verlängerung nehmen wir die Domain am {2} aus dem DNS. Websites und E-Mail-Adressen unter diesem Namen funktionieren dann nicht mehr. Frühestens am {1} löschen wir sie.",
		"Without a renewal, we take the domain out of the DNS on {2}. Websites and email addresses under this name then stop working. We delete it on {1} at the earliest.",
	},
	"term.plan.transit": {
		"Ohne Verlängerung übergeben wir die Domain am {1} an die Registry DENIC. Sie schreibt dem Inhaber einen Brief und fragt, wie es weitergehen soll.",
		"Without a renewal, we hand the domain over to its registry, DENIC, on {1}. DENIC then writes to the holder and asks how to proceed.",
	},
	"term.plan.expire": {
		"Ohne Verlängerung nimmt die Registry die Domain mit dem Ende der Laufzeit aus dem DNS. Websites und E-Mail-Adressen unter diesem Namen funktionieren dann nicht mehr. Frühestens am {1} löscht sie die Domain.",
		"Without a renewal, the registry takes the domain out of the DNS at the end of its term. Websites and email addresses under this name then stop working. The registry deletes the domain on {1} at the earliest.",
	},
	"term.plan.expire.hold": {
		"Ohne Verlängerung nimmt die Registry die Domain spätestens am {2} aus dem DNS. Websites und E-Mail-Adressen unter diesem Namen funktionieren dann nicht mehr. Frühestens am {1} löscht sie die Domain.",
		"Without a renewal, the registry takes the domain out of the DNS on {2} at the latest. Websites and email addresses under this name then stop working. The registry deletes the domain on {1} at the earliest.",
	},
	"term.let_expire.none":          {"Wir verlängern die Domain dann nicht und buchen nichts ab.", "We won't renew the domain or charge you."},
	"term.let_expire.agree.delete":  {"Damit stimmen Sie der Löschung zu.", "By choosing this, you agree to the deletion."},
	"term.let_expire.agree.expire":  {"Damit stimmen Sie der Löschung zu.", "By choosing this, you agree to the deletion."},
	"term.let_expire.agree.transit": {"Damit stimmen Sie der Übergabe zu.", "By choosing this, you agree to the handover."},
	"term.let_expire.undo.delete":   {"Bis zur Löschung können Sie das zurücknehmen.", "You can undo this until the domain is deleted."},
	"term.let_expire.undo.expire": {
		"Zurücknehmen können Sie das, solange sich die Domain verlängern lässt.",
		"You can undo this for as long as the domain can be renewed.",
	},
	"term.let_expire.undo.transit": {"Bis zur Übergabe können Sie das zurücknehmen.", "You can undo this until the domain is handed over."},
	"term.let_expire.undo.until":   {"Zurücknehmen können Sie das nur bis zum Ende der Laufzeit, bis {1}.", "You can only undo this until the end of the term, {1}."},
}
