package portal

import (
	"net/http"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const (
	contactLinkPath   = "/portal/contact-check" // package mailer has it, too
	contactChecksPath = "/portal/contact-checks"
)

// contactDays is how long holders have to confirm their address.
const contactDays = int(contactcheck.Term / (24 * time.Hour))

// unconfirmed returns the address of a holder if it has to be confirmed once the holder has a
// domain, and otherwise an empty text.
func (h *Handler) unconfirmed(req *ui.Request, holder registrar.Registrant) (string, error) {
	if h.Contacts == nil {
		return "", nil
	}
	must, err := h.Contacts.MustConfirm(req.R.Context(), req.Actor(), holder.Email)
	if err != nil || !must {
		return "", err
	}
	return holder.Email, nil
}

// contactRoutes lists the pages about the confirmation of registrants' addresses.
func (h *Handler) contactRoutes() []httpjson.Route {
	const get, post = http.MethodGet, http.MethodPost
	if h.Contacts == nil {
		return nil
	}
	signedIn := h.Frame.SignedInPage
	return []httpjson.Route{
		{Method: get, Path: contactLinkPath, Handler: h.contactLink(h.showContactLink)},
		{Method: post, Path: contactLinkPath, Handler: h.contactLink(h.confirmContact)},
		{Method: get, Path: contactChecksPath, Handler: signedIn(contactChecksPath, h.contactChecks)},
		{Method: post, Path: contactChecksPath, Handler: signedIn(contactChecksPath, h.resendContact)},
	}
}

// contactLink is a page for whoever has the link from a mail. It is the same for everyone: it
// names the domains as the mail does but no customer, and ignores who is signed in.
func (h *Handler) contactLink(page func(req *ui.Request, link string) error) http.HandlerFunc {
	return h.Frame.Page(func(req *ui.Request) error {
		if h.ContactLimit != nil {
			if wait := h.ContactLimit("network " + registrar.Network(req.Actor().Address)); wait > 0 {
				return &registrar.Error{Kind: registrar.KindRateLimited, RetryAfter: wait}
			}
		}
		err := page(req, linkOf(req))
		if registrar.CodeOf(err) == contactcheck.BadLink {
			return h.showMessage(req, http.StatusGone, "link_invalid.title", "contact_link.invalid")
		}
		return err
	})
}

// showContactLink shows a button and changes nothing: mail scanners open links.
func (h *Handler) showContactLink(req *ui.Request, link string) error {
	state, err := h.Contacts.LinkState(req.R.Context(), link)
	if err != nil {
		return err
	}
	if state != contactcheck.LinkOpen {
		return h.showContactResult(req, state)
	}
	names, further, err := h.Contacts.LinkDomains(req.R.Context(), link)
	if err != nil {
		return err
	}
	return h.templates.Render(req, ui.View{Name: "contactlink", Title: "contact_link.title", Data: struct {
		Link    string
		Names   []string
		Further int
	}{link, names, further}})
}

func (h *Handler) confirmContact(req *ui.Request, link string) error {
	state, err := h.Contacts.Confirm(req.R.Context(), req.Actor(), link)
	if err != nil {
		return err
	}
	return h.showContactResult(req, state)
}

func (h *Handler) showContactResult(req *ui.Request, state contactcheck.LinkState) error {
	if state == contactcheck.LinkConfirmed {
		return h.showMessage(req, http.StatusOK, "contact_link.confirmed", "contact_link.confirmed_text")
	}
	return h.showMessage(req, http.StatusOK, "contact_link.obsolete", "contact_link.obsolete_text")
}

// contactChecks lists a customer's unconfirmed addresses.
func (h *Handler) contactChecks(req *ui.Request) error {
	checks, err := h.Contacts.ListOwn(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	var rows []contactRow
	for _, check := range checks {
		row := contactRow{Check: check, Shown: slices.Concat(check.Names, check.Kept)}
		row.Shown = row.Shown[:min(len(row.Shown), maxSummedNames)]
		if row.More = check.Domains - len(row.Shown); len(check.Kept) > 0 {
			row.Staying = h.namesInSummary(req.Language, check.Kept)
		}
		rows = append(rows, row)
	}
	return h.templates.Render(req, ui.View{Name: "contactchecks", Title: "contact_checks.title", Section: profilePath, Data: rows})
}

// contactRow is an unconfirmed address with the first of its domains. Staying names those that stay in
// the DNS.
type contactRow struct {
	contactcheck.Check
	Shown   []string
	More    int
	Staying string
}

func (h *Handler) resendContact(req *ui.Request) error {
	err := h.Contacts.Resend(req.R.Context(), req.Actor(), req.Field("id"))
	switch registrar.CodeOf(err) {
	case contactcheck.ResentToo:
		return req.RedirectWithFlash("contact_resent_before", contactChecksPath)
	case contactcheck.Ended:
		return req.RedirectWithFlash("contact_confirmed", contactChecksPath)
	}
	if err != nil {
		return err
	}
	return req.RedirectWithFlash("contact_resent", contactChecksPath)
}

// Suspended reports whether the domain is offline because its holder's address is not confirmed.
func (v domainView) Suspended() bool {
	return v.ContactCheck != nil && v.ContactCheck.Stage() == contactcheck.Suspended
}

// badge is a short text in the colour of its urgency.
type badge struct{ Tone, Text string }

// underWayBadges says what is not finished about a domain, the most urgent first. The state of a
// suspended domain names the unconfirmed address.
func (h *Handler) underWayBadges(req *ui.Request, domain portfolio.Domain, open portfolio.UnderWay) (badges []badge) {
	add := func(tone, key string, values ...any) {
		badges = append(badges, badge{tone, h.templates.Text(req.Language, key, values...)})
	}
	if !open.ConfirmBy.IsZero() && domain.Restriction != portfolio.Suspended {
		tone := "warn"
		if !h.Now().Before(open.ConfirmBy) {
			tone = "bad"
		}
		add(tone, "underway.unconfirmed", ui.FormatDate(req.Language, contactcheck.Check{DueAt: open.ConfirmBy}.LastDay()))
	}
	switch {
	case open.Change == "":
	case open.ChangeAt.IsZero():
		add("wait", "underway.change")
	default:
		add("wait", "underway.planned", ui.FormatDate(req.Language, open.ChangeAt))
	}
	return badges
}

// ContactKey is the text key of what happens to the domain without a confirmation.
func (v domainView) ContactKey() string {
	return contactKey("contact_check.", v.ContactCheck.Stage(), v.Capabilities.NoHold)
}

// contactKey returns the text key for a stage; kept means that the registry does not let us take a
// domain out of the DNS.
func contactKey(prefix string, stage contactcheck.State, kept bool) string {
	key := prefix + string(stage)
	if kept && stage != contactcheck.Suspended {
		key += "_kept"
	}
	return key
}

// addContactCheck adds the open check of a domain to its page.
func (h *Handler) addContactCheck(req *ui.Request, view *domainView) error {
	if h.Contacts == nil {
		return nil
	}
	check, found, err := h.Contacts.OfDomain(req.R.Context(), req.Actor(), view.Domain.ID)
	if found {
		if view.Record.Held() {
			check.Held = 1
		}
		view.ContactCheck = &check
	}
	return err
}

// addLocks adds the operators' locks of a domain to its page.
func (h *Handler) addLocks(req *ui.Request, view *domainView) error {
	if h.Locks == nil {
		return nil
	}
	locks, err := h.Locks(req.R.Context(), req.Actor(), view.Domain.ID)
	for _, lock := range locks {
		if lock.Has(admin.Hold) {
			view.Holds = append(view.Holds, lock)
		} else {
			view.Locks = append(view.Locks, lock)
		}
	}
	return err
}

// addContactChecks adds unconfirmed addresses to what waits for the customer. They replace the lines of
// the domains that are offline because of them.
func (h *Handler) addContactChecks(req *ui.Request, view *overviewView) (int, error) {
	if h.Contacts == nil {
		return 0, nil
	}
	checks, err := h.Contacts.ListOwn(req.R.Context(), req.Actor())
	for _, check := range checks {
		line := overviewLine{Until: check.LastDay(), URL: contactChecksPath, ActionKey: "do.contact"}
		key := contactKey("line.contact.", check.Stage(), len(check.Names) == 0)
		line.Text = h.templates.Text(req.Language, key, check.Email, ui.FormatDate(req.Language, line.Until))
		switch {
		case len(check.Names) > 0:
			line.Name, line.More = check.Names[0], check.Domains-len(check.Kept)-1
		case len(check.Kept) > 0:
			line.Name, line.More = check.Kept[0], check.Domains-1
		}
		if check.State == contactcheck.Suspended {
			line.Until = time.Time{}
			view.dropSuspended(check.Names)
		}
		view.addDecision(line)
	}
	return len(checks), err
}

// dropSuspended removes the lines of suspended domains.
func (v *overviewView) dropSuspended(names []string) {
	if len(v.Parts) > 0 && v.Parts[0].ID == "decide" {
		v.Parts[0].Lines = slices.DeleteFunc(v.Parts[0].Lines, func(line overviewLine) bool {
			return line.Held != nil && line.Held.Restriction == portfolio.Suspended && slices.Contains(names, line.Name)
		})
	}
}
