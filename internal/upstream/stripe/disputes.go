package stripe

import (
	"context"
	"iter"
	"slices"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
)

var _ dispute.Provider = (*Client)(nil)

// debitMethods are payments that the customer's bank may return without a dispute.
var debitMethods = []api.ChargePaymentMethodDetailsType{
	api.ChargePaymentMethodDetailsTypeSEPADebit, api.ChargePaymentMethodDetailsTypeBACSDebit,
	api.ChargePaymentMethodDetailsTypeACHDebit, api.ChargePaymentMethodDetailsTypeACSSDebit, api.ChargePaymentMethodDetailsTypeAUBECSDebit,
}

// FetchDispute returns a dispute with its charge.
func (c *Client) FetchDispute(ctx context.Context, id string) (dispute.Report, error) {
	params := &api.DisputeRetrieveParams{}
	params.AddExpand("charge")
	found, err := onObject(ctx, c, "fetch_dispute", c.api.getDispute, id, params)
	switch {
	case err != nil:
		return dispute.Report{}, err
	case found.ID != id || found.Charge == nil || !slices.Contains(dispute.Statuses(), dispute.Status(found.Status)):
		return dispute.Report{}, c.broken("fetch_dispute")
	}
	return reportOf(found), nil
}

func reportOf(d *api.Dispute) dispute.Report {
	report := dispute.Report{
		ID: d.ID, Charge: d.Charge.ID, Intent: intentID(d.PaymentIntent), Status: dispute.Status(d.Status),
		Reason: identifierOrEmpty(string(d.Reason)), Currency: string(d.Currency), Amount: registrar.Cents(d.Amount),
		Charged: registrar.Cents(d.Charge.Amount), Refunded: registrar.Cents(d.Charge.AmountRefunded),
		Refundable: d.IsChargeRefundable, OpenedAt: time.Unix(d.Created, 0).UTC(),
	}
	if details := d.Charge.PaymentMethodDetails; details != nil {
		report.Debit = slices.Contains(debitMethods, details.Type)
	}
	if details := d.EvidenceDetails; details != nil && details.DueBy > 0 {
		report.DueBy = time.Unix(details.DueBy, 0).UTC()
	}
	for _, entry := range d.BalanceTransactions {
		report.Withdrawn -= registrar.Cents(entry.Amount)
		report.Fee += registrar.Cents(entry.Fee)
	}
	return report
}

// ListDisputeIDs returns the disputes created since a time, the newest first.
func (c *Client) ListDisputeIDs(ctx context.Context, since time.Time, limit int) (ids []string, err error) {
	type entry struct {
		ID string `json:"id"`
	}
	get := func(ctx context.Context, list api.ListParams) ([]*entry, error) {
		return getPage[entry](ctx, c, "/v1/disputes", &api.DisputeListParams{ListParams: list, CreatedRange: &api.RangeQueryParams{GreaterThanOrEqual: since.Unix()}})
	}
	id := func(d *entry) string { return d.ID }
	for one, err := range pages(ctx, c, "list_disputes", get, id, func(d *entry) (string, bool) { return d.ID, true }) {
		if err != nil {
			return nil, err
		}
		if ids = append(ids, one); len(ids) == limit {
			break
		}
	}
	return ids, nil
}

// Disputes lists all disputes, newest first.
func (c *Client) Disputes(ctx context.Context) iter.Seq2[reconcile.ProviderDispute, error] {
	return func(yield func(reconcile.ProviderDispute, error) bool) {
		for d, err := range c.disputes(ctx) {
			var one reconcile.ProviderDispute
			if err == nil {
				one = reconcile.ProviderDispute{ID: d.ID, Intent: d.Intent, Status: string(d.Status), Amount: d.Amount, Withdrawn: d.Withdrawn, CreatedAt: d.OpenedAt}
			}
			if !yield(one, err) {
				return
			}
		}
	}
}

func (c *Client) disputes(ctx context.Context) iter.Seq2[dispute.Report, error] {
	get := func(ctx context.Context, list api.ListParams) ([]*api.Dispute, error) {
		return collect(c.api.listDisputes(ctx, &api.DisputeListParams{ListParams: list}).All(ctx))
	}
	id := func(d *api.Dispute) string { return d.ID }
	return pages(ctx, c, "list_disputes", get, id, func(d *api.Dispute) (dispute.Report, bool) {
		if d.Charge == nil {
			return dispute.Report{}, false
		}
		return reportOf(d), true
	})
}
