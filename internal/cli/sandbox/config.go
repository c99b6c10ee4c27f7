package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/epp"
)

// unsourcedTLDs returns the extensions without a public source, as exclusions of a registry account.
func unsourcedTLDs(list *catalog.Catalog) []string {
	var all []string
	for _, ext := range list.All() {
		if ext.RDAP == "" && ext.WHOIS == "" {
			all = append(all, "!"+ext.TLD)
		}
	}
	return all
}

// zones returns the extensions of the simulated registry: those of the current price list
// and the shipped ones, so that the shipped list can be imported later.
func zones(list *catalog.Catalog) []registry.Zone {
	extensions := list.All()
	if shipped, err := catalog.Shipped(); err == nil {
		for _, ext := range shipped.All() {
			if _, known := list.Extension(ext.TLD); !known {
				extensions = append(extensions, ext)
			}
		}
	}
	all := make([]registry.Zone, 0, len(extensions))
	for _, ext := range extensions {
		all = append(all, registry.Zone{
			TLD: ext.TLD, RDAP: ext.RDAP, WHOIS: ext.WHOIS, Popular: ext.Popular, MinYears: ext.MinYears, MaxYears: ext.MaxYears,
			Fees: registry.Fees{Create: feeOf(ext.Register), Renew: feeOf(ext.Renew), Transfer: feeOf(ext.Transfer), Restore: feeOf(ext.Restore)},
		})
	}
	return all
}

// feeOf is what the simulated registry charges: 70 % of the price, so that there is a margin.
func feeOf(price registrar.Cents) int64 { return int64(price) * 7 / 10 }

// newConfig returns the configuration of a service that uses the simulated upstreams.
func (c Command) newConfig(sim simulation) (config.Config, error) {
	world := sim.registry
	cfg := config.Default()
	var err error
	if cfg.Data, err = filepath.Abs(c.Data); err != nil {
		return cfg, err
	}
	cfg.Server.Listen = c.Listen
	cfg.Server.MetricsListen = "off"
	cfg.BaseURL = strings.TrimSuffix(cmp.Or(c.BaseURL, "http://"+c.Listen), "/")
	cfg.Upstream.Bootstrap = world.BootstrapURL()
	cfg.Upstream.DNS = []string{world.DNS()}
	cfg.Upstream.Hosts = world.Hosts()
	if err := c.configureRegistry(&cfg, sim); err != nil {
		return cfg, err
	}
	// The simulation has no client metadata documents, and the sandbox is offline.
	cfg.OAuth.ClientMetadata = "off"
	sim.configurePayments(&cfg)
	cfg.Premium = config.Premium{Sell: true, MarginPercent: 10}
	cfg.Mail = config.Mail{Server: sim.mailbox.Address(), TLS: "none", From: "dotkontor <noreply@dotkontor.example>"}
	err = cfg.Check()
	return cfg, err
}

// configureRegistry adds an account at the simulated registry, which serves all
// extensions like a wholesale gateway. Extensions without a public source in the price
// list are excluded, so that the sandbox has some that can't be ordered.
func (c Command) configureRegistry(cfg *config.Config, sim simulation) error {
	world := sim.registry
	if world.EPPCAFile() == "" {
		return nil // without a data folder the registry has no certificate to verify
	}
	account, found := world.Account(registry.ProductAccount)
	ca, err := filepath.Abs(world.EPPCAFile())
	if err != nil || !found {
		return errors.Join(errors.New("the simulated registry has no account for the service"), err)
	}
	cfg.Registration.Nameservers = []string{"ns1.dotkontor.example", "ns2.dotkontor.example"}
	cfg.EPP = []config.EPP{{
		Name: "sandbox", Server: world.EPP(), CA: ca, User: account.ID, Password: config.Secret(account.Password),
		Extensions: append([]string{"*"}, sim.unsourced...), Connections: 4, CheckNames: epp.MaxChecked,
		Poll: config.Duration(time.Second), // a minute is too long while trying something out
		Policy: []config.EPPPolicy{
			{Extensions: []string{"*"}, Contacts: []string{"registrant", "admin", "tech"}, Nameservers: "objects", AuthCode: "set", Transfer: "waits"},
			{Extensions: []string{".com", ".net", ".dev"}, Contacts: []string{"none"}},
			{Extensions: []string{".org", ".info"}, Contacts: []string{"registrant", "admin", "tech", "billing"}},
			{Extensions: []string{".de"}, Contacts: []string{"registrant"}, Nameservers: "attributes", Transfer: "at_once"},
			{Extensions: []string{".uk", ".co.uk", ".org.uk", ".me.uk"}, Transfer: "push"}, // as at Nominet
			{Extensions: []string{".at", ".co.at", ".or.at", ".eu"}, Contacts: []string{"registrant", "tech"}, Nameservers: "attributes", AuthCode: "on_demand"},
			{Extensions: []string{".eu"}, RegistrarContact: registry.TechContact},
		},
	}}
	return nil
}

// writeConfig writes the configuration file for 'dotkontor serve' and operator commands.
func (c Command) writeConfig(cfg config.Config) (string, error) {
	path := filepath.Join(c.Data, cli.SandboxConfigFile)
	if err := cfg.Write(path); err != nil {
		return "", fmt.Errorf("write configuration file: %w", err)
	}
	return path, nil
}
