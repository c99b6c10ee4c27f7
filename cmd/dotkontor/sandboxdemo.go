package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
)

const (
	demoFile     = "demo.json"
	demoEmail    = "demo@dotkontor.example"
	demoLanguage = "de"
	demoToken    = "Sandbox"
	demoHolder   = "Marlene Petersen"

	demoAgentName = "Sandbox-Agent"
)

// demo is the sandbox's customer, as the welcome text tells it. It is kept in
// the data folder, so that a restart changes nothing.
type demo struct {
	Email    string `json:"email"`
	Password string `json:"password"`
	Token    string `json:"token"`
	// Agent is a checkout agent that the customer has linked.
	Agent demoAgent `json:"agent"`
	// Since is the day from which the domains' dates count, in the database and in
	// the simulated registry alike.
	Since time.Time `json:"since"`
}

// demoAgent is how to act as the agent.
type demoAgent struct {
	ID     string `json:"id"`
	Key    string `json:"key"`
	Secret string `json:"secret"`
}

// loadDemo reads what an earlier run kept, or begins anew. A file that can't be
// read is no reason not to start: nothing in it is precious.
func loadDemo(folder string, now time.Time) (demo, error) {
	d := demo{}
	text, err := os.ReadFile(filepath.Join(folder, demoFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d, fmt.Errorf("the demo customer: %w", err)
	}
	if err != nil || json.Unmarshal(text, &d) != nil || d.Since.IsZero() {
		d = demo{Since: now.UTC().Truncate(24 * time.Hour)}
	}
	d.Email = demoEmail
	return d, nil
}

func (d demo) save(folder string) error {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(folder, demoFile)
	draft := path + ".new"
	if err := os.WriteFile(draft, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("the demo customer: %w", err)
	}
	return os.Rename(draft, path)
}

// demoDomain is a domain of the demo customer and what the registry shows of
// it. Days count from demo.Since.
type demoDomain struct {
	label, tld string
	status     holding.Status
	paidUntil  int // 0: nothing paid yet
	autoRenew  bool

	registrar   string
	statuses    []string
	created     int
	expires     int
	nameservers []string
}

const (
	ourselves = "dotkontor Sandbox"
	elsewhere = "Nordlicht Namen GmbH"
)

// demoDomains have every state that a customer can see.
func demoDomains() []demoDomain {
	ours := []string{"ns1.dotkontor.example", "ns2.dotkontor.example"}
	theirs := []string{"ns1.nordlicht-namen.example", "ns2.nordlicht-namen.example"}
	return []demoDomain{
		{
			label: "kaffeehaus-elbblick", tld: ".de", status: holding.StatusActive, paidUntil: 220, autoRenew: true,
			registrar: ourselves, created: -1240, expires: 220, nameservers: ours,
		},
		{
			label: "elbblick-roesterei", tld: ".com", status: holding.StatusActive, paidUntil: 45, autoRenew: true,
			registrar: ourselves, statuses: []string{"clientTransferProhibited"}, created: -685, expires: 45, nameservers: ours,
		},
		{
			label: "elbblick", tld: ".io", status: holding.StatusActive, paidUntil: 130,
			registrar: ourselves, statuses: []string{"clientTransferProhibited"}, created: -235, expires: 130, nameservers: ours,
		},
		{ // a transfer to us: until the fifth day the name is still where it was
			label: "kaffeekurse-hamburg", tld: ".com", status: holding.StatusPending,
			registrar: elsewhere, statuses: []string{"pendingTransfer"}, created: -900, expires: 195, nameservers: theirs,
		},
		{ // the registry has renewed it by itself, and we hold it until it is paid
			label: "elbblick-catering", tld: ".com", status: holding.StatusExpired, paidUntil: -10,
			registrar: ourselves, statuses: []string{"autoRenewPeriod", "clientHold"}, created: -740, expires: 355,
		},
		{
			label: "hafenfest-kaffee", tld: ".io", status: holding.StatusRedemption, paidUntil: -55,
			registrar: ourselves, statuses: []string{"redemptionPeriod", "pendingDelete"}, created: -785, expires: -55,
		},
		{ // given back: DENIC asks the holder
			label: "roestmeister-elbe", tld: ".de", status: holding.StatusTransit, paidUntil: -20,
			registrar: "DENIC TRANSIT (Sandbox)", created: -750, expires: 345, nameservers: []string{"ns1.transit.registry.example", "ns2.transit.registry.example"},
		},
		{
			label: "kaffeebohne-nord", tld: ".de", status: holding.StatusTransferredOut, paidUntil: 80,
			registrar: elsewhere, created: -1015, expires: 80, nameservers: theirs,
		},
	}
}

func (d demo) day(days int) time.Time { return d.Since.AddDate(0, 0, days) }

// held is what the simulated registry holds of the customer's domains.
func (d demo) held() []registry.Held {
	var all []registry.Held
	for _, domain := range demoDomains() {
		all = append(all, registry.Held{
			Name: domain.label + domain.tld, Registrar: domain.registrar, Statuses: domain.statuses,
			Created: d.day(domain.created), Changed: d.day(min(domain.expires-365, -1)), Expires: d.day(domain.expires),
			Nameservers: domain.nameservers,
		})
	}
	return all
}

// seed makes the demo customer, or finds it, and sees to it that what d says
// works: a password that does not sign in and a token that is not accepted are
// made anew. All else stays as somebody has changed it, a closed account too.
func (d *demo) seed(ctx context.Context, people *accounts, folder string, provider methods) error {
	if err := d.settle(ctx, people, provider); err != nil {
		return fmt.Errorf("the demo customer: %w", err)
	}
	return d.save(folder)
}

func (d *demo) settle(ctx context.Context, people *accounts, provider methods) error {
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "sandbox"}
	account, err := people.customers.Find(ctx, operator, d.Email)
	if registrar.KindOf(err) == registrar.KindNotFound {
		account, _, err = people.customers.Add(ctx, operator, d.Email, demoLanguage)
	}
	if err != nil || !account.DisabledAt.IsZero() {
		return err
	}
	operator.Customer = account.ID
	for _, step := range []func(context.Context, *accounts, registrar.Actor) error{
		d.settlePassword, d.settleRegistrant, d.settleToken, d.settleAgent, d.settleMethod(provider), d.settleDomains,
	} {
		if err := step(ctx, people, operator); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) settlePassword(ctx context.Context, people *accounts, operator registrar.Actor) error {
	if d.Password != "" {
		visitor := registrar.Actor{Kind: registrar.ActorPerson, Address: netip.AddrFrom4([4]byte{127, 0, 0, 1})}
		in, err := people.customers.SignIn(ctx, visitor, customer.Credentials{Email: d.Email, Password: d.Password, Agent: "sandbox"})
		if err == nil {
			return people.customers.SignOut(ctx, visitor, in.Secret)
		}
		if registrar.KindOf(err) != registrar.KindUnauthenticated {
			return err
		}
	}
	d.Password = memorable()
	return people.customers.SetPassword(ctx, operator, operator.Customer, d.Password)
}

func (d *demo) settleRegistrant(ctx context.Context, people *accounts, operator registrar.Actor) error {
	owner := registrar.Actor{Kind: registrar.ActorPerson, Customer: operator.Customer}
	_, told, err := people.customers.Registrant(ctx, owner)
	if err != nil || told {
		return err
	}
	return people.customers.SetRegistrantOf(ctx, operator, operator.Customer, customer.Registrant{
		Kind: customer.Company, Name: demoHolder, Organisation: "Kaffeehaus Elbblick GmbH",
		Street: "Große Elbstraße 12", PostalCode: "22767", City: "Hamburg", Country: "DE", Phone: "+49.4055501234",
	})
}

func (d *demo) settleToken(ctx context.Context, people *accounts, operator registrar.Actor) error {
	grant, err := people.access.Verify(ctx, d.Token)
	if err == nil && grant.Customer == operator.Customer {
		return nil
	}
	if err != nil && registrar.KindOf(err) != registrar.KindUnauthenticated {
		return err
	}
	_, d.Token, err = people.access.Create(ctx, operator, demoToken)
	if registrar.CodeOf(err) == access.TooManyTokens {
		return nil // somebody tries out the limit
	}
	return err
}

// settleAgent sees to it that the agent's key and secret work, and that it is
// linked. Whoever ends the link in the portal has it back after a restart: the
// sandbox's commands rely on it.
func (d *demo) settleAgent(ctx context.Context, people *accounts, operator registrar.Actor) error {
	known, err := d.knownAgent(ctx, people)
	if err != nil {
		return err
	}
	if !known {
		if err := d.replaceAgent(ctx, people, operator); err != nil {
			return err
		}
	}
	return people.agents.Link(ctx, operator, d.Agent.ID)
}

// knownAgent says whether key and secret are those of the agent.
func (d *demo) knownAgent(ctx context.Context, people *accounts) (bool, error) {
	if d.Agent.Key == "" || d.Agent.Secret == "" {
		return false, nil
	}
	at := time.Now().UTC().Format(time.RFC3339)
	one, err := people.agents.Authenticate(ctx, agent.Credentials{
		Bearer: d.Agent.Key, Timestamp: at, Signature: signing.Compute(d.Agent.Secret, at, nil),
	})
	if registrar.KindOf(err) == registrar.KindUnauthenticated {
		return false, nil
	}
	return err == nil && one.ID == d.Agent.ID, err
}

func (d *demo) replaceAgent(ctx context.Context, people *accounts, operator registrar.Actor) error {
	all, err := people.agents.List(ctx, operator)
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.Name != demoAgentName || !one.RemovedAt.IsZero() {
			continue
		}
		if err := people.agents.Remove(ctx, operator, one.ID); err != nil {
			return err
		}
	}
	one, issued, err := people.agents.Add(ctx, operator, agent.Admission{Name: demoAgentName})
	d.Agent = demoAgent{ID: one.ID, Key: issued.Key, Secret: issued.Secret}
	return err
}

func (d *demo) settleDomains(ctx context.Context, people *accounts, operator registrar.Actor) error {
	owner := registrar.Actor{Kind: registrar.ActorPerson, Customer: operator.Customer}
	domains, err := people.holdings.List(ctx, owner)
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for _, domain := range domains {
		has[domain.Name] = true
	}
	for _, domain := range demoDomains() {
		if has[domain.label+domain.tld] {
			continue
		}
		addition := holding.Addition{
			Customer: operator.Customer, Name: registrar.NewName(domain.label, domain.tld),
			Status: domain.status, AutoRenew: domain.autoRenew,
		}
		if domain.paidUntil != 0 {
			addition.PaidUntil = d.day(domain.paidUntil)
		}
		_, err := people.holdings.Add(ctx, operator, addition)
		if err != nil && registrar.CodeOf(err) != holding.NameHeld { // another account may have taken it over
			return err
		}
	}
	return nil
}

// demoWords are short, well known and spelled without umlauts.
const demoWords = `anker boje bohne brise deich duene ebbe elbe faehre filter flut hafen kaffee kahn kajuete kanne
	kogge kompass kran kutter lager leuchtturm lotse mast matrose moewe mole muehle nebel pier pirat ponton
	regen reling rost sahne sand schoner schute segel seil speicher steg sturm tasse tide ufer watt welle wind`

// memorable makes a password that a person can type: four words and a number.
func memorable() string {
	words := strings.Fields(demoWords)
	draw := func(below int) int {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(below)))
		if err != nil { // the system's source never fails
			return 0
		}
		return int(n.Int64())
	}
	var parts []string
	for range 4 {
		parts = append(parts, words[draw(len(words))])
	}
	return strings.Join(parts, "-") + fmt.Sprintf("-%02d", draw(100))
}
