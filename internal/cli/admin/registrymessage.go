package admin

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

// printMessage prints a registry message and its details, one per line.
func printMessage(out io.Writer, account string, m inbox.Message) {
	fmt.Fprintf(out, "%s  %s  %s  %s  %s  %s\n", account, cli.Printable(m.ID), formatTime(m.Queued), m.Kind, orDash(m.Name), cli.Printable(m.Text))
	row := func(label string, values ...string) {
		if value := strings.TrimSpace(strings.Join(values, " ")); value != "" {
			fmt.Fprintf(out, "  %-12s  %s\n", label, cli.Printable(value))
		}
	}
	at := func(label string, when time.Time) {
		if !when.IsZero() {
			row(label, formatTime(when))
		}
	}
	d := m.Details
	if d.Object != inbox.ObjectDomain {
		row(string(d.Object), d.ObjectID)
	}
	if t := d.Transfer; t != nil {
		row("status", t.Status)
		row("requested by", t.RequestedBy)
		at("requested", t.RequestedAt)
		row("decided by", t.DecidedBy)
		at("decided", t.DecidedAt)
		at("expires", t.Expires)
	}
	if p := d.Pending; p != nil {
		row("performed", fmt.Sprint(p.Performed))
		row("transaction", p.ClTRID, p.SvTRID)
		at("decided", p.At)
	}
	row("grace", d.Grace...)
	if s := d.State; s != nil {
		row("status", s.Statuses...)
		row("sponsor", s.Sponsor)
		at("updated", s.Updated)
		at("expires", s.Expires)
	}
	if c := d.Change; c != nil {
		row("operation", c.Operation, c.Custom)
		at("changed", c.At)
		row("by", c.Who)
		row("case", c.CaseType, c.CaseName, c.Case)
		row("reason", c.Reason)
		row("transaction", c.SvTRID)
	}
	if b := d.Balance; b != nil {
		row("available", b.Available, b.Currency)
		row("threshold", b.Threshold, strings.ToLower(b.ThresholdType))
		row("limit", b.Limit)
		row("zone", b.Zone)
	}
	for _, one := range d.Maintenance {
		row("maintenance", one.Name, one.ID, one.Notice)
		at("start", one.Start)
		at("end", one.End)
		for _, system := range one.Systems {
			row("system", system.Name, system.Host, system.Impact)
		}
		row("environment", one.Environment)
		row("reason", one.Reason)
		row("tlds", one.TLDs...)
		row("description", one.Description)
		row("detail", one.Detail)
	}
	if m.Raw != "" {
		row("raw", "parts are not understood; the frame is on the operators' page")
	}
}
