package portal

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

const exportPath = "/portal/profile/export"

// An extract is read page by page and bounded: nobody has more by hand, and a
// program that has may ask the operator.
const (
	extractPage  = 200
	longestParts = 5000
)

// extract is all that an account holds, without secrets: of those only hashes are
// stored.
type extract struct {
	MadeAt     time.Time       `json:"madeAt"`
	Account    extractAccount  `json:"account"`
	Registrant *extractPerson  `json:"registrant"`
	Domains    []extractDomain `json:"domains"`
	Orders     []extractOrder  `json:"orders"`
	Tokens     []extractAccess `json:"tokens"`
	Apps       []extractAccess `json:"applications"`
	Passkeys   []extractAccess `json:"passkeys"`
	Sessions   []extractAccess `json:"sessions"`
	Agents     []extractAccess `json:"agents"`
	Activity   []extractDeed   `json:"activity"`
}

type extractAccount struct {
	ID        string    `json:"id"`
	Email     string    `json:"email"`
	Language  string    `json:"language"`
	CreatedAt time.Time `json:"createdAt"`
}

type extractPerson struct {
	Kind         string `json:"kind"`
	Name         string `json:"name"`
	Organisation string `json:"organisation,omitempty"`
	Street       string `json:"street"`
	PostalCode   string `json:"postalCode"`
	City         string `json:"city"`
	State        string `json:"state,omitempty"`
	Country      string `json:"country"`
	Phone        string `json:"phone"`
	VATID        string `json:"vatId,omitempty"`
}

type extractDomain struct {
	Name      string    `json:"name"`
	Status    string    `json:"status"`
	PaidUntil time.Time `json:"paidUntil,omitzero"`
	AutoRenew bool      `json:"autoRenew"`
	Since     time.Time `json:"since"`
}

type extractOrder struct {
	ID        string        `json:"id"`
	State     string        `json:"state"`
	Channel   string        `json:"channel"`
	CreatedAt time.Time     `json:"createdAt"`
	PaidAt    time.Time     `json:"paidAt,omitzero"`
	Net       string        `json:"netEur"`
	VAT       string        `json:"vatEur"`
	Gross     string        `json:"grossEur"`
	VATRule   string        `json:"vatRule"`
	Items     []extractItem `json:"items"`
	Refunds   []extractMove `json:"refunds,omitempty"`
}

type extractItem struct {
	Domain string `json:"domain"`
	Kind   string `json:"kind"`
	Years  int    `json:"years"`
	State  string `json:"state"`
	Gross  string `json:"grossEur"`
}

type extractMove struct {
	Amount string    `json:"amountEur"`
	MadeAt time.Time `json:"madeAt,omitzero"`
}

type extractAccess struct {
	Name     string    `json:"name"`
	Since    time.Time `json:"since"`
	LastUsed time.Time `json:"lastUsed,omitzero"`
	Address  string    `json:"address,omitempty"`
}

type extractDeed struct {
	At      time.Time `json:"at"`
	Action  string    `json:"action"`
	By      string    `json:"by"`
	Object  string    `json:"object,omitempty"`
	Address string    `json:"address,omitempty"`
}

// export hands all of it over as one file. It wants a recent sign-in: a browser that
// somebody has left open must not give everything away.
func (h *Handler) export(v *page.Visit) error {
	if !v.Recent() {
		return v.SignInFirst(page.SignInAgainPath)
	}
	all, err := h.extractOf(v)
	if err != nil {
		return err
	}
	body, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	v.W.Header().Set("Content-Disposition", `attachment; filename="dotkontor-`+v.Now.UTC().Format(time.DateOnly)+`.json"`)
	wire.WriteBytes(v.W, http.StatusOK, []string{"application/json"}, append(body, '\n'))
	return nil
}

func (h *Handler) extractOf(v *page.Visit) (extract, error) {
	ctx, actor, c := v.R.Context(), v.Actor(), v.Visitor.Customer
	all := extract{
		MadeAt: v.Now.UTC(), Account: extractAccount{ID: c.ID, Email: c.Email, Language: c.Language, CreatedAt: c.CreatedAt},
		Domains: []extractDomain{}, Orders: []extractOrder{}, Activity: []extractDeed{},
	}
	r, known, err := h.customers.Registrant(ctx, actor)
	if err != nil {
		return all, err
	}
	if known {
		all.Registrant = &extractPerson{
			Kind: string(r.Kind), Name: r.Name, Organisation: r.Organisation, Street: r.Street, PostalCode: r.PostalCode, City: r.City,
			State: r.State, Country: r.Country, Phone: r.Phone, VATID: r.VATID,
		}
	}
	domains, err := h.holdings.List(ctx, actor)
	if err != nil {
		return all, err
	}
	for _, d := range domains {
		all.Domains = append(all.Domains, extractDomain{
			Name: d.Name, Status: string(d.Status), PaidUntil: d.PaidUntil, AutoRenew: d.AutoRenew, Since: d.CreatedAt,
		})
	}
	for _, part := range []func(context.Context, registrar.Actor, *extract) error{h.extractAccess, h.extractOrders, h.extractActivity} {
		if err := part(ctx, actor, &all); err != nil {
			return all, err
		}
	}
	return all, nil
}

func (h *Handler) extractAccess(ctx context.Context, actor registrar.Actor, all *extract) error {
	all.Tokens, all.Apps, all.Passkeys, all.Sessions = []extractAccess{}, []extractAccess{}, []extractAccess{}, []extractAccess{}
	all.Agents = []extractAccess{}
	tokens, err := h.access.Latest(ctx, actor)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		all.Tokens = append(all.Tokens, extractAccess{Name: t.Name, Since: t.CreatedAt, LastUsed: t.LastUsedAt})
	}
	apps, err := h.applications.Apps(ctx, actor)
	if err != nil {
		return err
	}
	for _, a := range apps {
		all.Apps = append(all.Apps, extractAccess{Name: a.Label, Since: a.ConnectedAt, LastUsed: a.LastUsedAt})
	}
	passkeys, err := h.customers.Passkeys(ctx, actor)
	if err != nil {
		return err
	}
	for _, p := range passkeys {
		all.Passkeys = append(all.Passkeys, extractAccess{Name: p.Name, Since: p.CreatedAt, LastUsed: p.LastUsedAt})
	}
	offers, err := h.agents.Offers(ctx, actor)
	if err != nil {
		return err
	}
	for _, o := range offers {
		if !o.Linked.At.IsZero() {
			all.Agents = append(all.Agents, extractAccess{Name: o.Name, Since: o.Linked.At})
		}
	}
	sessions, err := h.customers.Sessions(ctx, actor)
	for _, s := range sessions {
		all.Sessions = append(all.Sessions, extractAccess{Name: s.Agent, Since: s.CreatedAt, LastUsed: s.SeenAt, Address: s.Address})
	}
	return err
}

func (h *Handler) extractOrders(ctx context.Context, actor registrar.Actor, all *extract) error {
	if h.orders == nil {
		return nil
	}
	for before := ""; len(all.Orders) < longestParts; {
		orders, err := h.orders.List(ctx, actor, before, extractPage)
		if err != nil {
			return err
		}
		for _, o := range orders {
			before = o.ID
			all.Orders = append(all.Orders, extractOf(o))
		}
		if len(orders) < extractPage {
			return nil
		}
	}
	return nil
}

func extractOf(o order.Order) extractOrder {
	one := extractOrder{
		ID: o.ID, State: string(o.State), Channel: string(o.Channel), CreatedAt: o.CreatedAt, PaidAt: o.PaidAt,
		Net: o.Totals.Net.String(), VAT: o.Totals.VAT.String(), Gross: o.Totals.Gross.String(), VATRule: o.Totals.Rule,
	}
	for _, item := range o.Items {
		one.Items = append(one.Items, extractItem{
			Domain: item.Name, Kind: string(item.Kind), Years: item.Years, State: string(item.State), Gross: item.Gross.String(),
		})
	}
	for _, refund := range o.Refunds {
		one.Refunds = append(one.Refunds, extractMove{Amount: refund.Amount.String(), MadeAt: refund.MadeAt})
	}
	return one
}

func (h *Handler) extractActivity(ctx context.Context, actor registrar.Actor, all *extract) error {
	for before := ""; len(all.Activity) < longestParts; {
		deeds, err := h.customers.Deeds(ctx, actor, before, extractPage)
		if err != nil {
			return err
		}
		for _, d := range deeds {
			before = d.ID
			all.Activity = append(all.Activity, extractDeed{
				At: d.At, Action: string(d.Action), By: string(d.Actor.Kind), Object: d.Object, Address: addressOf(d.Actor),
			})
		}
		if len(deeds) < extractPage {
			return nil
		}
	}
	return nil
}
