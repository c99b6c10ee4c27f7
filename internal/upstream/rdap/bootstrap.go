package rdap

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	maxBootstrapBytes = 4 << 20
	bootstrapTimeout  = 30 * time.Second
	firstRetry        = time.Minute
	lastRetry         = time.Hour
)

// bootstrap is one whole document of RFC 9224. It is never changed.
type bootstrap struct {
	etag  string
	bases map[string]*url.URL
}

// longestMatch is the base for the longest suffix of labels that has one.
func (b *bootstrap) longestMatch(labels string) *url.URL {
	for {
		if base := b.bases[labels]; base != nil {
			return base
		}
		_, rest, found := strings.Cut(labels, ".")
		if !found {
			return nil
		}
		labels = rest
	}
}

var (
	errBootstrapEmpty  = errors.New("the document lists no service")
	errBootstrapFormat = errors.New("a service is not a pair of labels and addresses")
	errNoWebAddress    = errors.New("not an address that begins with https:// or http://")
)

// parseBootstrap reads the whole document or refuses it: a list that is wrong in
// one place is not trusted in the others.
func parseBootstrap(body []byte) (*bootstrap, error) {
	var document struct {
		Services [][][]string `json:"services"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return nil, err
	}
	list := &bootstrap{bases: make(map[string]*url.URL, 2048)}
	for _, service := range document.Services {
		if len(service) != 2 || len(service[1]) == 0 {
			return nil, errBootstrapFormat
		}
		base, err := preferredBase(service[1])
		if err != nil {
			return nil, err
		}
		for _, label := range service[0] {
			label = strings.ToLower(strings.Trim(label, "."))
			if label == "" {
				return nil, errBootstrapFormat
			}
			list.bases[label] = base
		}
	}
	if len(list.bases) == 0 {
		return nil, errBootstrapEmpty
	}
	return list, nil
}

// preferredBase is the first https address, else the first one.
func preferredBase(addresses []string) (*url.URL, error) {
	var chosen *url.URL
	for _, address := range addresses {
		base, err := parseBase(address)
		if err != nil {
			return nil, err
		}
		if chosen == nil || chosen.Scheme == "http" && base.Scheme == "https" {
			chosen = base
		}
	}
	return chosen, nil
}

// parseBase reads a base address. RFC 9224, 3 wants a slash at its end; where it
// is missing, it was meant.
func parseBase(address string) (*url.URL, error) {
	base, err := parseWebAddress(address)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
		if base.RawPath != "" {
			base.RawPath += "/"
		}
	}
	base.RawQuery, base.Fragment = "", ""
	return base, nil
}

func parseWebAddress(address string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errNoWebAddress
	}
	return u, nil
}

// Run fetches the bootstrap now and then once every Refresh, a little early or
// late so that many nodes do not ask at once. A failure keeps what is there, is
// logged once until the next success, and is tried again after a minute, then
// two, up to an hour. Run returns nil when ctx ends.
func (c *Client) Run(ctx context.Context) error {
	failures := 0
	for ctx.Err() == nil {
		var wait time.Duration
		wait, failures = c.refreshOnce(ctx, failures)
		timer := time.NewTimer(jitter(wait))
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
	return nil
}

// refreshOnce fetches the bootstrap after so many failures in a row. It returns
// how long to wait for the next time, and how many failures it is now.
func (c *Client) refreshOnce(ctx context.Context, failures int) (time.Duration, int) {
	err := c.fetchBootstrap(ctx)
	switch {
	case ctx.Err() != nil: // we are stopping; that is nobody's fault
	case err != nil && failures == 0:
		c.log.WarnContext(ctx, "rdap: the list of RDAP services could not be refreshed, the last good one stays in use",
			"host", c.bootstrapURL.Host, "fault", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
	case err == nil && failures > 0:
		c.log.InfoContext(ctx, "rdap: the list of RDAP services is fresh again", "host", c.bootstrapURL.Host)
	}
	if err != nil {
		return retryDelay(failures, c.refresh), failures + 1
	}
	return c.refresh, 0
}

// retryDelay doubles from a minute to an hour and never waits longer than a
// successful refresh would.
func retryDelay(failures int, refresh time.Duration) time.Duration {
	wait := lastRetry
	if failures < 6 {
		wait = firstRetry << failures
	}
	return min(wait, lastRetry, refresh)
}

// jitter spreads a wait over nine to eleven tenths of itself.
func jitter(wait time.Duration) time.Duration {
	spread := wait / 10
	if spread <= 0 {
		return wait
	}
	return wait - spread + rand.N(2*spread) //nolint:gosec // nobody gains by guessing it
}

// fetchBootstrap asks for the document as politely as for anything else.
func (c *Client) fetchBootstrap(ctx context.Context) error {
	return c.limiter.Do(ctx, c.bootstrapURL.Host, c.loadBootstrap)
}

// loadBootstrap swaps the document in if it is new and whole.
func (c *Client) loadBootstrap(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bootstrapTimeout)
	defer cancel()
	header := http.Header{"Accept": {"application/json"}}
	current := c.bootstrap.Load()
	if current != nil && current.etag != "" {
		header.Set("If-None-Match", current.etag)
	}
	reply, fault := c.get(ctx, c.bootstrapURL, true, header, maxBootstrapBytes)
	if fault != nil {
		fault.Detail = c.bootstrapURL.Host
		return fault
	}
	if reply.status == http.StatusNotModified && current != nil {
		return nil
	}
	if reply.status == http.StatusTooManyRequests {
		fault = throttledFault(reply)
		fault.Detail = c.bootstrapURL.Host
		return fault
	}
	if reply.status != http.StatusOK {
		return registrar.Fault(registrar.FaultBroken, c.bootstrapURL.Host, nil)
	}
	list, err := parseBootstrap(reply.body)
	if err != nil {
		return registrar.Fault(registrar.FaultBroken, c.bootstrapURL.Host, err)
	}
	list.etag = reply.header.Get("ETag")
	c.bootstrap.Store(list)
	return nil
}
