package epp

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// RestoreDomain restores a deleted domain (RFC 3915, 4.2.5).
type RestoreDomain struct {
	Name string
	// Report is the restore report, which gTLD registries require during
	// pendingRestore; nil sends the restore request.
	Report *RestoreReport
	Fee    registrar.Money // the agreed fee of a premium name's restore request; zero for others
	ClTRID string
}

// RestoreReport is the registrar's restore report. Its texts have no line breaks.
type RestoreReport struct {
	// Before and After describe the domain before its deletion and after its
	// restoration.
	Before, After     string
	Deleted, Restored time.Time
	Reason            string
	// Statements are one or two sentences that the registry prescribes.
	Statements []string
}

// RestoreDomain sends a restore request or its report. fee is what it costs; zero if the
// registry reports none.
func (c *Client) RestoreDomain(ctx context.Context, q RestoreDomain) (fee registrar.Money, err error) {
	cmd := &call{
		Command: Command{Verb: "update", Object: "domain", Request: q}, trid: q.ClTRID, requiredExtension: nsRGP,
		body: func(w *Writer) {
			w.label("domain:name", q.Name)
			w.Empty("domain:chg") // RFC 3915, 4.2.5: an update that changes nothing
		},
		writeExtension: func(w *Writer, _ services) {
			w.Start("rgp:update", Attr{"xmlns:rgp", nsRGP})
			if q.Report == nil {
				w.Empty("rgp:restore", Attr{"op", "request"})
			} else {
				q.Report.write(w)
			}
			w.End("rgp:update")
		},
	}
	cmd.agreeTo(q.Fee)
	a, err := c.send(ctx, cmd)
	if err != nil {
		return registrar.Money{}, err
	}
	return a.chargedFee("updData"), nil
}

func (r *RestoreReport) write(w *Writer) {
	if n := len(r.Statements); n < 1 || n > 2 {
		w.Fail("rgp:statement", "must appear once or twice")
	}
	if r.Deleted.IsZero() || r.Restored.IsZero() {
		w.Fail("rgp:report", "lacks its times")
	}
	w.Start("rgp:restore", Attr{"op", "report"})
	w.Start("rgp:report")
	w.Leaf("rgp:preData", r.Before)
	w.Leaf("rgp:postData", r.After)
	w.Leaf("rgp:delTime", r.Deleted.UTC().Format(time.RFC3339))
	w.Leaf("rgp:resTime", r.Restored.UTC().Format(time.RFC3339))
	w.Leaf("rgp:resReason", r.Reason)
	for _, statement := range r.Statements {
		w.Leaf("rgp:statement", statement)
	}
	w.End("rgp:report")
	w.End("rgp:restore")
}
