package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
)

// unsourcedTLDs are the extensions without a public source, as an account leaves them
// out.
func unsourcedTLDs(list *catalog.Catalog) []string {
	var all []string
	for _, ext := range list.All() {
		if ext.RDAP == "" && ext.WHOIS == "" {
			all = append(all, "!"+ext.TLD)
		}
	}
	return all
}

// zones tells the world which extensions exist: those of the list in force, and
// the shipped ones, so that an import of a larger list finds a world behind it.
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
		})
	}
	return all
}

// newConfig is what an operator would write to reach this world.
func (c Command) newConfig(sim simulation) (config.Config, error) {
	world := sim.registry
	cfg := config.Default()
	data, err := filepath.Abs(c.Data)
	if err != nil {
		return cfg, err
	}
	cfg.Data = data
	cfg.Server.Listen = c.Listen
	cfg.Server.MetricsListen = "off"
	cfg.BaseURL = c.BaseURL
	if cfg.BaseURL == "" {
		cfg.BaseURL = "http://" + c.Listen
	}
	cfg.BaseURL = strings.TrimSuffix(cfg.BaseURL, "/")
	cfg.Upstream.Bootstrap = world.BootstrapURL()
	cfg.Upstream.DNS = []string{world.DNS()}
	cfg.Upstream.Hosts = world.Hosts()
	if err := c.configureRegistry(&cfg, sim); err != nil {
		return cfg, err
	}
	// The simulated world has no applications' documents, and the sandbox asks no other.
	cfg.OAuth.ClientMetadata = "off"
	sim.payments.configure(&cfg)
	cfg.Mail = config.Mail{Server: sim.mailbox.Address(), TLS: "none", From: "dotkontor <noreply@dotkontor.example>"}
	err = cfg.Check()
	return cfg, err
}

// pollInterval is how often the simulated registry's messages are fetched: nobody
// wants to wait for a minute while trying something out.
const pollInterval = config.Duration(time.Second)

// configureRegistry tells how the simulated registry is reached, which presents all
// extensions as a wholesale gateway does. Extensions of which the price list knows
// no public source are left out, so that they can be tried as what they are.
func (c Command) configureRegistry(cfg *config.Config, sim simulation) error {
	world := sim.registry
	if world.EPPCAFile() == "" {
		return nil // a world that keeps nothing, whose registry nobody can verify
	}
	account, found := world.Account(registry.ProductAccount)
	ca, err := filepath.Abs(world.EPPCAFile())
	if err != nil || !found {
		return errors.Join(errors.New("the simulated registry has no account for the product"), err)
	}
	cfg.Registration.Nameservers = []string{"ns1.dotkontor.example", "ns2.dotkontor.example"}
	cfg.EPP = []config.EPP{{
		Name: "sandbox", Server: world.EPP(), CA: ca, User: account.ID, Password: config.Secret(account.Password),
		Extensions: append([]string{"*"}, sim.unsourced...), Connections: 4, Poll: pollInterval,
		Policy: []config.EPPPolicy{
			{Extensions: []string{"*"}, Contacts: []string{"registrant", "admin", "tech"}, Nameservers: "objects", AuthCode: "set", Transfer: "waits"},
			{Extensions: []string{".com", ".net", ".dev"}, Contacts: []string{"none"}},
			{Extensions: []string{".de"}, Contacts: []string{"registrant"}, Nameservers: "attributes", Transfer: "at_once"},
		},
	}}
	return nil
}

// writeConfig writes the file by which 'dotkontor serve' and the operator's
// commands find this world.
func (c Command) writeConfig(cfg config.Config) (string, error) {
	path := filepath.Join(c.Data, cli.SandboxConfigFile)
	if err := cfg.Write(path); err != nil {
		return "", fmt.Errorf("the configuration file: %w", err)
	}
	return path, nil
}
