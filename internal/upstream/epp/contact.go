package epp

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// CreateContact creates a contact (RFC 5733, 3.2.1).
type CreateContact struct {
	// ID is chosen by the client, 3 to 16 characters.
	ID         string
	Registrant registrar.Registrant
	Role       Role        // for which it is created; empty means the registrant
	Rule       ContactRule // of the TLD; the zero value has no rules
	AuthInfo   string
	ClTRID     string
}

// CreateContact creates a contact and returns its id: some gateways ignore ours and
// choose their own.
func (c *Client) CreateContact(ctx context.Context, q CreateContact) (id string, err error) {
	a, err := c.send(ctx, &call{
		Command: Command{Verb: "create", Object: "contact", Request: q}, trid: q.ClTRID,
		body: func(w *Writer) {
			w.handle("contact:id", q.ID)
			writeContactData(w, q.Registrant, q.Rule, q.AuthInfo, false)
		},
		writeExtension: func(w *Writer, has services) { q.Rule.writeType(w, has, q.Registrant, cmp.Or(q.Role, Registrant)) },
	})
	if err != nil {
		return "", err
	}
	return cmp.Or(a.data.Child(nsContact, "creData").value(nsContact, "id"), q.ID), nil
}

// InfoContact returns a contact's id, as the registry writes it, and the sponsoring
// account (clID).
func (c *Client) InfoContact(ctx context.Context, id string) (registryID, sponsor string, err error) {
	cmd := &call{
		Command: Command{Verb: "info", Object: "contact", Request: id}, safe: true,
		body: func(w *Writer) { w.handle("contact:id", id) },
	}
	a, err := c.send(ctx, cmd)
	if err != nil {
		return "", "", err
	}
	data := a.data.Child(nsContact, "infData")
	if data == nil {
		return "", "", c.unreadableError(cmd, errMissingData)
	}
	return data.value(nsContact, "id"), data.value(nsContact, "clID"), nil
}

// UpdateContact replaces a contact's data except its auth code (RFC 5733, 3.2.5).
// Registries differ in whether they retain a postal form that is no longer sent.
type UpdateContact struct {
	ID         string
	Registrant registrar.Registrant
	ClTRID     string
}

// UpdateContact replaces a contact's data.
func (c *Client) UpdateContact(ctx context.Context, q UpdateContact) (pending bool, err error) {
	return c.sendForPending(ctx, &call{
		Command: Command{Verb: "update", Object: "contact", Request: q}, trid: q.ClTRID,
		body: func(w *Writer) {
			w.handle("contact:id", q.ID)
			w.Start("contact:chg")
			writeContactData(w, q.Registrant, ContactRule{}, "", true)
			w.End("contact:chg")
		},
	})
}

// DeleteContact deletes a contact that no domain uses.
func (c *Client) DeleteContact(ctx context.Context, id, clTRID string) error {
	_, err := c.send(ctx, &call{
		Command: Command{Verb: "delete", Object: "contact", Request: id}, trid: clTRID,
		body: func(w *Writer) { w.handle("contact:id", id) },
	})
	return err
}

// e164 is the number format of RFC 5733, 2.5, which includes the empty string.
var e164 = regexp.MustCompile(`^(\+[0-9]{1,3}\.[0-9]{1,14})?$`)

// writeContactData writes a registrant in schema order, with the request not to
// publish the data (RFC 5733, 2.9). An update has no auth code, and its empty
// elements delete the old values.
func writeContactData(w *Writer, registrant registrar.Registrant, rule ContactRule, authInfo string, update bool) {
	forms := postalForms(registrant, rule.Postal)
	for _, form := range forms {
		form.write(w, update)
	}
	if phone := registrant.Phone; phone != "" || update {
		if !e164.MatchString(phone) || len(phone) > 17 {
			w.Fail("contact:voice", "must be written like +49.301234567")
		}
		w.Leaf("contact:voice", phone)
	}
	w.sized("contact:email", registrant.Email, 1, 254)
	if !update {
		writeAuthInfo(w, "contact", authInfo)
	}
	rule.writeDisclose(w, forms)
}

// writeDisclose asks the registry to hide what it lets the registrant hide.
func (r *ContactRule) writeDisclose(w *Writer, forms []postal) {
	byItself := r.Disclose == DiscloseOrganisation
	if r.Disclose == DiscloseNone || byItself && forms[0].Organisation == "" {
		return
	}
	w.Start("contact:disclose", Attr{"flag", "0"})
	if !byItself {
		for _, field := range []string{"contact:name", "contact:org", "contact:addr"} {
			for _, form := range forms {
				w.Empty(field, Attr{"type", form.kind})
			}
		}
	}
	w.Empty("contact:voice")
	w.Empty("contact:fax")
	w.Empty("contact:email")
	w.End("contact:disclose")
}

// postal is a name and an address: "loc" in the registrant's own script, "int" in
// ASCII (RFC 5733, 2.4).
type postal struct {
	kind string
	registrar.Registrant
}

// postalForms returns a registrant's name and address in the forms that the registry
// takes. Where it takes both, the local form is added if the registrant's spelling
// differs, and data that can't be transliterated has the local form only.
func postalForms(registrant registrar.Registrant, form PostalForm) []postal {
	local, international := postal{"loc", registrant}, internationalForm(registrant)
	switch {
	case form == PostalInternational:
		return []postal{international}
	case form == PostalLocal, !international.isASCII():
		return []postal{local}
	case local.isASCII():
		return []postal{international}
	default:
		return []postal{international, local}
	}
}

// internationalForm transliterates as far as possible.
func internationalForm(registrant registrar.Registrant) postal {
	international := postal{"int", registrant}
	for _, field := range international.texts() {
		*field = transliterate(*field)
	}
	return international
}

// texts are the fields that may be in the registrant's own script.
func (p *postal) texts() []*string {
	return []*string{&p.Name, &p.Organisation, &p.Street, &p.City, &p.State, &p.PostalCode}
}

func (p *postal) isASCII() bool {
	return !slices.ContainsFunc(p.texts(), func(text *string) bool { return !isASCII(*text) })
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

func (p *postal) write(w *Writer, update bool) {
	w.Start("contact:postalInfo", Attr{"type", p.kind})
	if p.kind == "int" && !p.isASCII() {
		w.Fail("contact:postalInfo", "can't be written in ASCII")
	}
	w.sized("contact:name", p.Name, 1, 255)
	if p.Organisation != "" || update {
		w.sized("contact:org", p.Organisation, 0, 255)
	}
	w.Start("contact:addr")
	w.sized("contact:street", p.Street, 1, 255)
	w.sized("contact:city", p.City, 1, 255)
	if p.State != "" {
		w.sized("contact:sp", p.State, 1, 255)
	}
	if p.PostalCode != "" {
		w.sized("contact:pc", p.PostalCode, 1, 16)
	}
	if strings.ToUpper(p.Country) != p.Country {
		w.Fail("contact:cc", "must be in capital letters")
	}
	w.sized("contact:cc", p.Country, 2, 2)
	w.End("contact:addr")
	w.End("contact:postalInfo")
}

// transliterations are letters that are not an ASCII letter with a diacritic.
var transliterations = strings.NewReplacer(
	"ä", "ae", "ö", "oe", "ü", "ue", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue", "ß", "ss", "ẞ", "SS",
	"æ", "ae", "Æ", "Ae", "ø", "oe", "Ø", "Oe", "å", "aa", "Å", "Aa", "œ", "oe", "Œ", "Oe",
	"ł", "l", "Ł", "L", "đ", "d", "Đ", "D", "ð", "d", "Ð", "D", "þ", "th", "Þ", "Th", "ı", "i",
	"–", "-", "—", "-", "’", "'", "‘", "'", "„", "\"", "“", "\"", "”", "\"",
)

// transliterate converts a text to ASCII as far as possible.
func transliterate(text string) string {
	text = transliterations.Replace(norm.NFC.String(text))
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(text))
}
