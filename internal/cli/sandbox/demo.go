package sandbox

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

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

const (
	demoFile       = "demo.json"
	demoEmail      = "demo@dotkontor.example"
	demoLanguage   = "de"
	demoToken      = "Sandbox"
	demoRegistrant = "Marlene Petersen"

	demoAgentName = "Sandbox-Agent"
)

// credentials are those of the demo customer.
type credentials struct {
	Email    string `json:"email"`
	Password string `json:"password"`
	Token    string `json:"token"`
}

// demo is the demo customer in the welcome text. It is stored in the data folder, so that
// a restart changes nothing.
type demo struct {
	credentials
	// Agent is a checkout agent that is linked to the customer.
	Agent demoAgent `json:"agent"`
	// Since is the day that the domains' dates are relative to, in the database and in the
	// simulated registry.
	Since time.Time `json:"since"`
}

type demoAgent struct {
	ID     string `json:"id"`
	Key    string `json:"key"`
	Secret string `json:"secret"`
}

// loadDemo reads the demo customer of an earlier run. A missing or invalid file is
// replaced: everything in it can be created again.
func loadDemo(folder string, now time.Time) (demo, error) {
	d := demo{}
	text, err := os.ReadFile(filepath.Join(folder, demoFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d, fmt.Errorf("demo customer: %w", err)
	}
	if err != nil || json.Unmarshal(text, &d) != nil || d.Since.IsZero() {
		d = demo{Since: now.UTC().Truncate(24 * time.Hour)}
	}
	d.Email = demoEmail
	return d, nil
}

// seed creates the demo customer if necessary. It replaces a password or token that does
// not work. Other changes by the user are kept, including a disabled account.
func (d *demo) seed(ctx context.Context, services *app.Services, folder string, provider paymentMethods) error {
	err := d.ensureAll(ctx, services, provider)
	if err == nil {
		err = writeJSON(filepath.Join(folder, demoFile), d)
	}
	if err != nil {
		return fmt.Errorf("demo customer: %w", err)
	}
	return nil
}

func (d *demo) ensureAll(ctx context.Context, services *app.Services, provider paymentMethods) error {
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "sandbox"}
	account, err := services.Customers.FindByEmail(ctx, operator, d.Email)
	if registrar.KindOf(err) == registrar.KindNotFound {
		account, _, err = services.Customers.Add(ctx, operator, d.Email, demoLanguage)
	}
	if err != nil || !account.DisabledAt.IsZero() {
		return err
	}
	operator.Customer = account.ID
	for _, step := range []func(context.Context, *app.Services, registrar.Actor) error{
		d.ensurePassword, d.ensureRegistrant, d.ensureToken, d.ensureAgent, d.ensurePaymentMethod(provider), d.ensureDomains,
	} {
		if err := step(ctx, services, operator); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) ensurePassword(ctx context.Context, services *app.Services, operator registrar.Actor) error {
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

func (d *demo) ensureRegistrant(ctx context.Context, services *app.Services, operator registrar.Actor) error {
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

func (d *demo) ensureToken(ctx context.Context, services *app.Services, operator registrar.Actor) error {
	grant, err := services.Tokens.Verify(ctx, d.Token)
	if err == nil && grant.Customer == operator.Customer {
		return nil
	}
	if err != nil && registrar.KindOf(err) != registrar.KindUnauthenticated {
		return err
	}
	_, d.Token, err = services.Tokens.Create(ctx, operator, oauth.TokenParams{Name: demoToken})
	if registrar.CodeOf(err) == oauth.TooManyTokens {
		return nil // the user is trying out the limit
	}
	return err
}

// ensureAgent ensures that the agent's key and secret work and that it is linked. A link
// that was removed in the portal is restored, because the printed commands rely on it.
func (d *demo) ensureAgent(ctx context.Context, services *app.Services, operator registrar.Actor) error {
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

// agentCredentialsValid reports whether key and secret are those of the agent.
func (d *demo) agentCredentialsValid(ctx context.Context, services *app.Services) (bool, error) {
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

func (d *demo) replaceAgent(ctx context.Context, services *app.Services, operator registrar.Actor) error {
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

// passwordWords are short, common German words, written without umlauts.
//
//nolint:gosec // words, not a password
const passwordWords = `anker boje bohne brise deich duene ebbe elbe faehre filter flut hafen kaffee kahn kajuete kanne
	kogge kompass kran kutter lager leuchtturm lotse mast matrose moewe mole muehle nebel pier pirat ponton
	regen reling rost sahne sand schoner schute segel seil speicher steg sturm tasse tide ufer watt welle wind`

// newDemoPassword returns a password that is easy to type: four words and a number.
func newDemoPassword() string {
	words := strings.Fields(passwordWords)
	draw := func(below int) int64 {
		n, _ := rand.Int(rand.Reader, big.NewInt(int64(below))) // never fails
		return n.Int64()
	}
	word := func() string { return words[draw(len(words))] }
	return fmt.Sprintf("%s-%s-%s-%s-%02d", word(), word(), word(), word(), draw(100))
}
