package check

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
)

// minForecast is the shortest wait that is worth a line.
const minForecast = 2 * time.Second

// forecastHosts returns how long the host with the most names takes at the configured
// rate, and a sentence about it. Many extensions share a host, and its limit then decides
// how long the batch takes. Names at a registry account do not count: a check command has
// many of them.
func forecastHosts(cfg config.Config, list *catalog.Catalog, names []string) (wait time.Duration, text string) {
	perSecond := cfg.Upstream.PerHostPerSecond
	hosts := make(map[string]int)
	busiest := ""
	for _, name := range names {
		_, tld, _ := strings.Cut(strings.ToLower(name), ".")
		ext, carried := list.Extension("." + tld)
		if !carried || config.AccountFor(cfg.EPP, ext.TLD) >= 0 {
			continue
		}
		host := publicHost(ext)
		if hosts[host]++; host != "" && hosts[host] > hosts[busiest] {
			busiest = host
		}
	}
	count := hosts[busiest]
	beyond := count - cmp.Or(cfg.Upstream.PerHostBurst, perSecond)
	if busiest == "" || perSecond <= 0 || beyond <= 0 {
		return 0, ""
	}
	wait = time.Duration(beyond) * time.Second / time.Duration(perSecond)
	if wait < minForecast {
		return 0, ""
	}
	return wait, fmt.Sprintf("%d of %d names are at %s, limited to %d per second: takes about %s",
		count, len(names), busiest, perSecond, formatDuration(wait))
}

// publicHost returns the host that is queried first for an extension, empty if none is.
func publicHost(ext registrar.Extension) string {
	if address, err := url.Parse(ext.RDAP); err == nil && address.Host != "" {
		return address.Host
	}
	return ext.WHOIS
}
