package crash

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// noticeDays are when the notices of a term are due, counted from its end.
var noticeDays = map[registrar.MailKind]time.Duration{
	registrar.MailExpiringMonth: -30 * day, registrar.MailExpiringWeek: -7 * day, registrar.MailExpired: 0,
}

// noticeTolerance is two steps of the clock: a killed product sends the notice after its restart.
const noticeTolerance = 2 * yearStep

// verify compares what customers paid for with registry, notices and payment provider. It
// returns what happened to each domain.
func (y *Years) verify(ctx context.Context, out io.Writer) (histories []string, err error) {
	state, err := testkit.ReadRegistryState(ctx, y.DB, y.Control)
	if err != nil {
		return nil, err
	}
	v := &yearVerification{
		Years: y, held: make(map[string]*ledger.Domain), ours: make(map[string]provision.Domain), years: make(map[string]int), counts: make(map[string]int),
	}
	for _, domain := range state.Registry.Domains {
		v.held[domain.Name] = domain
	}
	for _, domain := range state.Domains {
		v.ours[domain.ID] = domain
	}
	for _, item := range state.Items {
		if item.State == provision.StateActive {
			v.years[item.Domain] += item.Years
			v.counts[string(item.Kind)]++
		}
	}
	for _, domain := range y.domains {
		history, err := v.checkDomain(ctx, domain)
		if err != nil {
			return nil, err
		}
		histories = append(histories, history)
	}
	for _, key := range slices.Sorted(maps.Keys(v.counts)) {
		fmt.Fprintf(out, "  %s: %d\n", key, v.counts[key])
	}
	if err := y.reconcilePayments(ctx); err != nil {
		v.problems = append(v.problems, err.Error())
	}
	fmt.Fprintf(out, "  histories: %x\n", sha256.Sum256([]byte(strings.Join(histories, "\n"))))
	if len(v.problems) > 0 {
		return nil, errors.New(strings.Join(v.problems, "\n"))
	}
	return histories, nil
}

type yearVerification struct {
	*Years
	held     map[string]*ledger.Domain
	ours     map[string]provision.Domain
	years    map[string]int // paid and provisioned, by domain
	counts   map[string]int
	problems []string
}

func (v *yearVerification) wrong(format string, args ...any) {
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

// checkDomain compares a domain with the registry and with its notices, and returns its
// history without times.
func (v *yearVerification) checkDomain(ctx context.Context, domain *yearDomain) (history string, err error) {
	name := domain.name.ASCII()
	if domain.id == "" {
		v.wrong("%s was never registered", name)
		return "", nil
	}
	ours, ok := v.ours[domain.id]
	at := v.held[name]
	switch {
	case !ok:
		v.counts["closed"]++
		if at != nil && at.Phase != ledger.PendingDelete {
			v.wrong("%s left its customer, but the registry has it in phase %q until %s", name, at.Phase, at.Expires)
		}
	case ours.Status == registrar.DomainTransit:
		v.counts["transit"]++
	case at == nil:
		v.wrong("%s is %s, but not at the registry", name, ours.Status)
	default:
		v.counts[string(ours.Status)]++
		v.checkTerm(domain, ours, at)
	}
	notices, err := v.checkNotices(ctx, domain, ours)
	return fmt.Sprintf("%s %q, %d years, %s", name, ours.Status, v.years[domain.id], strings.Join(notices, " ")), err
}

// checkTerm compares the paid term with the paid items and with the registry's.
func (v *yearVerification) checkTerm(domain *yearDomain, ours provision.Domain, at *ledger.Domain) {
	name := domain.name.ASCII()
	if paid := at.Created.AddDate(v.years[domain.id], 0, 0); ours.PaidUntil.Sub(paid).Abs() > 3*day {
		v.wrong("%s is paid until %s, its items until %s", name, ours.PaidUntil, paid)
	}
	if domain.name.TLD() == ".de" || at.Phase != ledger.Active {
		return // no terms, or deleted
	}
	ahead := at.Expires.Sub(ours.PaidUntil)
	grace := time.Duration(lifecycle.PolicyOf(domain.name.TLD()).GraceDays) * day
	switch {
	case ahead < -3*day:
		v.wrong("%s is paid until %s, but registered until %s", name, ours.PaidUntil, at.Expires)
	case ahead > 60*day && v.now().After(ours.PaidUntil.Add(grace)):
		v.wrong("%s is registered until %s, but paid until %s only, and the grace is over", name, at.Expires, ours.PaidUntil)
	}
}

// checkNotices compares the sent notices with the terms that ended or will end soon. It
// returns their kinds in alphabetical order, because two may be due in the same moment,
// and without failed charges, which depend on when the payment provider could be reached.
func (v *yearVerification) checkNotices(ctx context.Context, domain *yearDomain, ours provision.Domain) (kinds []string, err error) {
	sent, err := v.DB.ListSentNoticesOfDomain(ctx, domain.id, 1000)
	if err != nil {
		return nil, err
	}
	type notice struct {
		kind registrar.MailKind
		end  int64
	}
	seen := make(map[notice]int)
	for _, one := range sent {
		if one.Kind != registrar.MailRenewalDeclined && one.Kind != registrar.MailRenewalFailed {
			kinds = append(kinds, string(one.Kind))
		}
		key := notice{one.Kind, one.TermEnd.UnixMicro()}
		seen[key]++
		days, timed := noticeDays[one.Kind]
		if seen[key] == 2 && timed {
			v.wrong("%s: notice %s was sent twice for the term until %s", domain.name.ASCII(), one.Kind, one.TermEnd)
		}
		if late := one.QueuedAt.Sub(one.TermEnd.Add(days)); timed && (late < 0 || late > noticeTolerance) {
			v.wrong("%s: notice %s was sent %s after its day", domain.name.ASCII(), one.Kind, late)
		}
		if !one.Accepted {
			v.counts["notices not accepted"]++
		}
	}
	v.counts["notices"] += len(sent)
	// The current term; earlier ones were renewed, some before their notices were due.
	if ours.ID != "" && ours.Status != registrar.DomainRedemption {
		for kind, days := range noticeDays {
			due := ours.PaidUntil.Add(days)
			if v.now().Sub(due) > noticeTolerance && seen[notice{kind, ours.PaidUntil.UnixMicro()}] != 1 {
				v.wrong("%s: %d notices %s for the term until %s", domain.name.ASCII(), seen[notice{kind, ours.PaidUntil.UnixMicro()}], kind, ours.PaidUntil)
			}
		}
	}
	slices.Sort(kinds)
	return kinds, nil
}
