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
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
)

const (
	demoFile       = "demo.json"
	demoEmail      = "demo@dotkontor.example"
	demoLanguage   = "de"
	demoToken      = "Sandbox"
	demoRegistrant = "Marlene Petersen"

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
	status     registrar.DomainStatus
	paidUntil  int // 0: nothing paid yet
	autoRenew  bool

	registrar   string
	statuses    []string
	created     int
	expires     int
	nameservers []string
}

const (
	ourRegistrar   = "dotkontor Sandbox"
	otherRegistrar = "Nordlicht Namen GmbH"
)

// demoDomains have every state that a customer can see.
func demoDomains() []demoDomain {
	ours := []string{"ns1.dotkontor.example", "ns2.dotkontor.example"}
	theirs := []string{"ns1.nordlicht-namen.example", "ns2.nordlicht-namen.example"}
	return []demoDomain{
		{
			label: "kaffeehaus-elbblick", tld: ".de", status: registrar.DomainActive, paidUntil: 220, autoRenew: true,
			registrar: ourRegistrar, created: -1240, expires: 220, nameservers: ours,
		},
		{
			label: "elbblick-roesterei", tld: ".com", status: registrar.DomainActive, paidUntil: 45, autoRenew: true,
			registrar: ourRegistrar, statuses: []string{"clientTransferProhibited"}, created: -685, expires: 45, nameservers: ours,
		},
		{
			label: "elbblick", tld: ".io", status: registrar.DomainActive, paidUntil: 130,
			registrar: ourRegistrar, statuses: []string{"clientTransferProhibited"}, created: -235, expires: 130, nameservers: ours,
		},
		{ // a transfer to us: until the fifth day the name is still where it was
			label: "kaffeekurse-hamburg", tld: ".com", status: registrar.DomainPending,
			registrar: otherRegistrar, statuses: []string{"pendingTransfer"}, created: -900, expires: 195, nameservers: theirs,
		},
		{ // the registry has renewed it by itself, and we hold it until it is paid
			label: "elbblick-catering", tld: ".com", status: registrar.DomainExpired, paidUntil: -10,
			registrar: ourRegistrar, statuses: []string{"autoRenewPeriod", "clientHold"}, created: -740, expires: 355,
		},
		{
			label: "hafenfest-kaffee", tld: ".io", status: registrar.DomainRedemption, paidUntil: -55,
			registrar: ourRegistrar, statuses: []string{"redemptionPeriod", "pendingDelete"}, created: -785, expires: -55,
		},
		{ // given back: DENIC asks the holder
			label: "roestmeister-elbe", tld: ".de", status: registrar.DomainTransit, paidUntil: -20,
			registrar: "DENIC TRANSIT (Sandbox)", created: -750, expires: 345, nameservers: []string{"ns1.transit.registry.example", "ns2.transit.registry.example"},
		},
		{
			label: "kaffeebohne-nord", tld: ".de", status: registrar.DomainTransferredOut, paidUntil: 80,
			registrar: otherRegistrar, created: -1015, expires: 80, nameservers: theirs,
		},
	}
}

func (d demo) date(days int) time.Time { return d.Since.AddDate(0, 0, days) }

// registryDomains is what the simulated registry holds of the customer's domains.
func (d demo) registryDomains() []registry.SeedDomain {
	var all []registry.SeedDomain
	for _, domain := range demoDomains() {
		all = append(all, registry.SeedDomain{
			Name: domain.label + domain.tld, Registrar: domain.registrar, Statuses: domain.statuses,
			Created: d.date(domain.created), Changed: d.date(min(domain.expires-365, -1)), Expires: d.date(domain.expires),
			Nameservers: domain.nameservers,
		})
	}
	return all
}

// seed makes the demo customer, or finds it, and sees to it that what d says
// works: a password that does not sign in and a token that is not accepted are
// made anew. All else stays as somebody has changed it, a closed account too.
func (d *demo) seed(ctx context.Context, services *Services, folder string, provider paymentMethods) error {
	if err := d.ensureAll(ctx, services, provider); err != nil {
		return fmt.Errorf("the demo customer: %w", err)
	}
	return d.save(folder)
}

func (d *demo) ensureAll(ctx context.Context, services *Services, provider paymentMethods) error {
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "sandbox"}
	account, err := services.Customers.FindByEmail(ctx, operator, d.Email)
	if registrar.KindOf(err) == registrar.KindNotFound {
		account, _, err = services.Customers.Add(ctx, operator, d.Email, demoLanguage)
	}
	if err != nil || !account.DisabledAt.IsZero() {
		return err
	}
	operator.Customer = account.ID
	for _, step := range []func(context.Context, *Services, registrar.Actor) error{
		d.ensurePassword, d.ensureRegistrant, d.ensureToken, d.ensureAgent, d.ensurePaymentMethod(provider), d.ensureDomains,
	} {
		if err := step(ctx, services, operator); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) ensurePassword(ctx context.Context, services *Services, operator registrar.Actor) error {
	if d.Password != "" {
		visitor := registrar.Actor{Kind: registrar.ActorPerson, Address: netip.AddrFrom4([4]byte{127, 0, 0, 1})}
		in, err := services.Customers.SignIn(ctx, visitor, account.Credentials{Email: d.Email, Password: d.Password, UserAgent: "sandbox"})
		if err == nil {
			return services.Customers.SignOut(ctx, visitor, in.Secret)
		}
		if registrar.KindOf(err) != registrar.KindUnauthenticated {
			return err
		}
	}
	d.Password = newDemoPassword()
	return services.Customers.SetPassword(ctx, operator, operator.Customer, d.Password)
}

func (d *demo) ensureRegistrant(ctx context.Context, services *Services, operator registrar.Actor) error {
	owner := registrar.Actor{Kind: registrar.ActorPerson, Customer: operator.Customer}
	_, found, err := services.Customers.Registrant(ctx, owner)
	if err != nil || found {
		return err
	}
	return services.Customers.SetRegistrantFor(ctx, operator, operator.Customer, account.Registrant{
		Kind: account.Company, Name: demoRegistrant, Organisation: "Kaffeehaus Elbblick GmbH",
		Street: "Große Elbstraße 12", PostalCode: "22767", City: "Hamburg", Country: "DE", Phone: "+49.4055501234",
	})
}

func (d *demo) ensureToken(ctx context.Context, services *Services, operator registrar.Actor) error {
	grant, err := services.Tokens.Verify(ctx, d.Token)
	if err == nil && grant.Customer == operator.Customer {
		return nil
	}
	if err != nil && registrar.KindOf(err) != registrar.KindUnauthenticated {
		return err
	}
	_, d.Token, err = services.Tokens.Create(ctx, operator, demoToken)
	if registrar.CodeOf(err) == oauth.TooManyTokens {
		return nil // somebody tries out the limit
	}
	return err
}

// ensureAgent sees to it that the agent's key and secret work, and that it is
// linked. Whoever ends the link in the portal has it back after a restart: the
// sandbox's commands rely on it.
func (d *demo) ensureAgent(ctx context.Context, services *Services, operator registrar.Actor) error {
	known, err := d.agentCredentialsValid(ctx, services)
	if err != nil {
		return err
	}
	if !known {
		if err := d.replaceAgent(ctx, services, operator); err != nil {
			return err
		}
	}
	return services.Agents.Link(ctx, operator, d.Agent.ID)
}

// agentCredentialsValid says whether key and secret are those of the agent.
func (d *demo) agentCredentialsValid(ctx context.Context, services *Services) (bool, error) {
	if d.Agent.Key == "" || d.Agent.Secret == "" {
		return false, nil
	}
	at := time.Now().UTC().Format(time.RFC3339)
	one, err := services.Agents.Authenticate(ctx, agent.Credentials{
		Bearer: d.Agent.Key, Timestamp: at, Signature: signing.Compute(d.Agent.Secret, at, nil),
	})
	if registrar.KindOf(err) == registrar.KindUnauthenticated {
		return false, nil
	}
	return err == nil && one.ID == d.Agent.ID, err
}

func (d *demo) replaceAgent(ctx context.Context, services *Services, operator registrar.Actor) error {
	all, err := services.Agents.List(ctx, operator)
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.Name != demoAgentName || !one.RemovedAt.IsZero() {
			continue
		}
		if err := services.Agents.Remove(ctx, operator, one.ID); err != nil {
			return err
		}
	}
	one, issued, err := services.Agents.Add(ctx, operator, agent.AddParams{Name: demoAgentName})
	d.Agent = demoAgent{ID: one.ID, Key: issued.Key, Secret: issued.Secret}
	return err
}

func (d *demo) ensureDomains(ctx context.Context, services *Services, operator registrar.Actor) error {
	owner := registrar.Actor{Kind: registrar.ActorPerson, Customer: operator.Customer}
	domains, err := services.Portfolio.List(ctx, owner)
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
		addition := portfolio.AddParams{
			Customer: operator.Customer, Name: registrar.NewName(domain.label, domain.tld),
			Status: domain.status, AutoRenew: domain.autoRenew,
		}
		if domain.paidUntil != 0 {
			addition.PaidUntil = d.date(domain.paidUntil)
		}
		_, err := services.Portfolio.Add(ctx, operator, addition)
		if err != nil && registrar.CodeOf(err) != registrar.NameHeld { // another account may have taken it over
			return err
		}
	}
	return nil
}

// passwordWords are short, well known and spelled without umlauts.
const passwordWords = `anker boje bohne brise deich duene ebbe elbe faehre filter flut hafen kaffee kahn kajuete kanne
	kogge kompass kran kutter lager leuchtturm lotse mast matrose moewe mole muehle nebel pier pirat ponton
	regen reling rost sahne sand schoner schute segel seil speicher steg sturm tasse tide ufer watt welle wind`

// newDemoPassword makes a password that a person can type: four words and a number.
func newDemoPassword() string {
	words := strings.Fields(passwordWords)
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
