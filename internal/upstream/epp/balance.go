package epp

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

// nsBalance is Verisign's balance mapping, which other registries offer, too (Punktum dk).
const nsBalance = "http://www.verisign.com/epp/balance-1.0"

// Balance queries what is left of the account's credit. It is below zero if the registry lets an
// account overdraw. It sends nothing if the server does not announce the mapping.
func (c *Client) Balance(ctx context.Context) (inbox.Balance, error) {
	cmd := &call{
		Command: Command{Verb: "info"}, safe: true, requiredExtension: nsBalance,
		body: func(w *Writer) { w.Empty("balance:info", Attr{"xmlns:balance", nsBalance}) },
	}
	a, err := c.send(ctx, cmd)
	if err != nil {
		return inbox.Balance{}, err
	}
	data := a.data.Child(nsBalance, "infData")
	balance := inbox.Balance{Limit: data.value(nsBalance, "creditLimit"), Available: data.value(nsBalance, "availableCredit")}
	threshold := data.Child(nsBalance, "creditThreshold")
	if fixed := threshold.value(nsBalance, "fixed"); fixed != "" {
		balance.Threshold, balance.ThresholdType = fixed, inbox.FixedThreshold
	} else if percent := threshold.value(nsBalance, "percent"); percent != "" {
		balance.Threshold, balance.ThresholdType = percent, inbox.PercentThreshold
	}
	for _, text := range []string{balance.Available, balance.Limit, balance.Threshold} {
		if _, err := registrar.ParseAmount(text); err != nil && (text != "" || balance.Available == "") {
			return inbox.Balance{}, c.unreadableError(cmd, errMissingData)
		}
	}
	return balance, nil
}

// Balance is Client.Balance.
func (p *Provisioner) Balance(ctx context.Context) (inbox.Balance, error) {
	balance, err := p.client.Balance(ctx)
	return balance, mapBillingError(err)
}
