package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
)

// leaveWithin bounds the farewell to the registries: what does not log out in time
// is cut off.
const leaveWithin = 3 * time.Second

// registries are the accounts at registries, the same for lookups and for orders:
// their connections are counted, so there is one pool for each.
type registries struct {
	accounts []config.EPP
	clients  []*epp.Client
	source   *epp.Source // nil without accounts
}

// openRegistries makes the clients. Nobody is called yet.
func openRegistries(cfg config.Config, logger *slog.Logger) (*registries, error) {
	r := &registries{accounts: cfg.EPP}
	for _, account := range cfg.EPP {
		secured, err := eppTLS(account)
		if err != nil {
			return nil, fmt.Errorf("the registry account %s: %w", account.Name, err)
		}
		client, err := epp.New(epp.Account{
			Name: account.Name, Address: account.Server, ClientID: account.User, Password: string(account.Password), TLS: secured,
			MaxConnections: account.Connections, OrderConnections: account.OrderConnections,
			PerSecond: float64(account.PerSecond), OrderShare: float64(account.OrderPercent) / 100,
			LookupTimeout: time.Duration(account.LookupTimeout),
			UserAgent:     "dotkontor/" + version, Logger: logger,
		})
		if err != nil {
			return nil, fmt.Errorf("the registry account %s: %w", account.Name, err)
		}
		r.clients = append(r.clients, client)
	}
	if len(r.clients) == 0 {
		return r, nil
	}
	r.source = epp.SourceOf(func(tld string) (*epp.Client, bool) {
		i := config.Serves(r.accounts, tld)
		if i < 0 {
			return nil, false
		}
		return r.clients[i], true
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
			return nil, errors.New(account.CA + " holds no certificate in PEM form")
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

// close logs out everywhere.
func (r *registries) close() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
	defer cancel()
	done := make(chan struct{}, len(r.clients))
	for _, client := range r.clients {
		go func() {
			client.Close(ctx)
			done <- struct{}{}
		}()
	}
	for range r.clients {
		<-done
	}
}

// desks are the accounts as provisioning wants them.
func (r *registries) desks() []provision.NamedAccount {
	var all []provision.NamedAccount
	for i, account := range r.accounts {
		all = append(all, provision.NamedAccount{
			Name:      account.Name,
			Serves:    func(tld string) bool { return config.Serves(r.accounts, tld) == i },
			PollEvery: time.Duration(account.Poll),
			Account:   epp.NewDesk(r.clients[i], func(tld string) epp.Policy { return policyOf(account, tld) }),
		})
	}
	return all
}

// policyOf is how an account presents an extension: the built-in table, changed by
// what the configuration says.
func policyOf(account config.EPP, tld string) epp.Policy {
	policy := epp.PolicyOf(tld, nil)
	for _, own := range account.Policy {
		if !own.About(tld) {
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
			policy.Transfer = []epp.TransferStyle{epp.Waits, epp.AtOnce, epp.Push}[i]
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
