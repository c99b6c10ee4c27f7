package check

import (
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
)

func TestForecastHosts_BusiestPublicHostDecides(t *testing.T) {
	t.Parallel()
	list, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, ext := range list.All() {
		all = append(all, "kaffeehaus"+ext.TLD)
	}
	account := config.EPP{Name: "gateway", Extensions: []string{"*"}}
	for _, test := range []struct {
		name      string
		names     []string
		perSecond int
		accounts  []config.EPP
		want      time.Duration
	}{
		{"all", all, 20, nil, 12350 * time.Millisecond},
		{"slower", all, 10, nil, 25700 * time.Millisecond},
		{"no limit", all, -1, nil, 0},
		{"account", all, 20, []config.EPP{account}, 0},
		{"few", all[:30], 20, nil, 0},
		{"unknown extension", []string{"a.zz", "b", ""}, 20, nil, 0},
	} {
		cfg := config.Default()
		cfg.Upstream.PerHostPerSecond, cfg.EPP = test.perSecond, test.accounts
		wait, text := forecastHosts(cfg, list, test.names)
		if wait != test.want {
			t.Errorf("%s: %s, want %s", test.name, wait, test.want)
		}
		if named := strings.HasPrefix(text, "267 of 490 names are at rdap.identitydigital.services, limited to "); named != (wait > 0) {
			t.Errorf("%s: %q", test.name, text)
		}
	}
}
