package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
)

// logoutTimeout bounds the EPP logouts; connections still open after it are closed.
const logoutTimeout = 3 * time.Second

// Registries are the EPP clients of all registry accounts. Lookups and orders share
// them, because registries limit the connections of an account.
type Registries struct {
	accounts []config.EPP
	Clients  []*epp.Client
	Source   *epp.Source // nil without accounts
}

// OpenRegistries builds the clients without connecting.
func OpenRegistries(cfg config.Config, logger *slog.Logger) (*Registries, error) {
	r := &Registries{accounts: cfg.EPP}
	for _, account := range cfg.EPP {
		secured, err := eppTLS(account)
		if err != nil {
			return nil, fmt.Errorf("registry account %s: %w", account.Name, err)
		}
		client, err := epp.New(epp.Account{
			Name: account.Name, Address: account.Server, ClientID: account.User, Password: string(account.Password), TLS: secured,
			MaxConnections: account.Connections, OrderConnections: account.OrderConnections,
			PerSecond: float64(account.PerSecond), OrderShare: float64(account.OrderPercent) / 100,
			LookupTimeout: time.Duration(account.LookupTimeout), BatchNames: account.CheckNames,
			UserAgent: "dotkontor/" + Version, Logger: logger,
		})
		if err != nil {
			return nil, fmt.Errorf("registry account %s: %w", account.Name, err)
		}
		r.Clients = append(r.Clients, client)
	}
	if len(r.Clients) == 0 {
		return r, nil
	}
	r.Source = epp.NewSource(func(tld string) (*epp.Client, bool) {
		i := config.AccountFor(r.accounts, tld)
		if i < 0 {
			return nil, false
		}
		return r.Clients[i], true
	})
	return r, nil
}

func eppTLS(account config.EPP) (*tls.Config, error) {
	secured := &tls.Config{ServerName: account.ServerName, MinVersion: tls.VersionTLS12}
	if account.CA != "" {
		text, err := os.ReadFile(account.CA)
		if err != nil {
			return nil, err
		}
		secured.RootCAs = x509.NewCertPool()
		if !secured.RootCAs.AppendCertsFromPEM(text) {
			return nil, errors.New(account.CA + " contains no PEM certificate")
		}
	}
	if account.Cert != "" {
		pair, err := tls.LoadX509KeyPair(account.Cert, account.Key)
		if err != nil {
			return nil, err
		}
		secured.Certificates = []tls.Certificate{pair}
	}
	return secured, nil
}

// Close logs out of all registries.
func (r *Registries) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), logoutTimeout)
	defer cancel()
	var all sync.WaitGroup
	for _, client := range r.Clients {
		all.Go(func() { client.Close(ctx) })
	}
	all.Wait()
}

func (r *Registries) provisionAccounts() []provision.NamedAccount {
	var all []provision.NamedAccount
	for i, account := range r.accounts {
		all = append(all, provision.NamedAccount{
			Name:         account.Name,
			Serves:       func(tld string) bool { return config.AccountFor(r.accounts, tld) == i },
			PollInterval: time.Duration(account.Poll),
			Account:      epp.NewProvisioner(r.Clients[i], func(tld string) epp.Policy { return eppPolicy(account, tld) }),
		})
	}
	return all
}

// checkRegistrant returns what the registry of a TLD would reject about a registrant.
func (r *Registries) checkRegistrant(tld string, registrant registrar.Registrant) error {
	i := config.AccountFor(r.accounts, tld)
	if i < 0 {
		return nil
	}
	policy := eppPolicy(r.accounts[i], tld)
	return policy.CheckRegistrant(registrant, "")
}

// addressForms are the values of the setting addresses.
var addressForms = map[string]epp.PostalForm{
	"international": epp.PostalInternational, "local": epp.PostalLocal, "both": epp.PostalBoth,
}

// eppPolicy returns the policy of an account: the built-in table with the overrides of the configuration.
func eppPolicy(account config.EPP, tld string) epp.Policy {
	policy := epp.PolicyOf(tld)
	for _, own := range account.Policy {
		if !own.AppliesTo(tld) {
			continue
		}
		if len(own.Contacts) > 0 {
			policy.Roles = nil
			for _, role := range own.Contacts {
				if role != "none" {
					policy.Roles = append(policy.Roles, epp.Role(role))
				}
			}
		}
		if own.RegistrarContact != "" {
			policy.RegistrarContact = own.RegistrarContact
		}
		if form, set := addressForms[own.Addresses]; set {
			policy.Contact.Postal = form
		}
		switch own.Nameservers {
		case "objects":
			policy.HostAttributes = false
		case "attributes":
			policy.HostAttributes = true
		}
		switch own.AuthCode {
		case "set":
			policy.AuthInfo = epp.AuthInfoRule{Min: 8, Max: 16}
		case "on_demand":
			policy.AuthInfo = epp.AuthInfoRule{OnDemand: true}
		}
		if i := slices.Index([]string{"waits", "at_once", "push"}, own.Transfer); i >= 0 {
			policy.Transfer = []epp.TransferStyle{epp.PendingTransfer, epp.ImmediateTransfer, epp.PushTransfer}[i]
		}
		if own.MinYears > 0 {
			policy.MinYears = own.MinYears
		}
		if own.MaxYears > 0 {
			policy.MaxYears = own.MaxYears
		}
	}
	return policy
}
