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

// bootstrap is one complete RFC 9224 document. It is immutable.
type bootstrap struct {
	etag  string
	bases map[string]*url.URL
}

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

var errBootstrapFormat = errors.New("rdap: bootstrap service is not a pair of labels and URLs")

// parseBootstrap rejects a document with any error: it is not trusted elsewhere.
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
		return nil, errors.New("rdap: bootstrap lists no service")
	}
	return list, nil
}

// preferredBase returns the first https URL, else the first one.
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

// parseBase adds a missing trailing slash, which RFC 9224, 3 requires.
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
		return nil, errors.New("rdap: not an http or https URL")
	}
	return u, nil
}

// Run fetches the bootstrap now and then every Refresh, with jitter so that nodes
// do not fetch at the same time. After a failure the last document stays in use,
// the failure is logged once until the next success, and the fetch is retried after
// a minute, doubling to an hour. Run returns nil when ctx ends.
func (c *Client) Run(ctx context.Context) error {
	failures := 0
	for ctx.Err() == nil {
		var wait time.Duration
		wait, failures = c.refreshOnce(ctx, failures)
		select {
		case <-ctx.Done():
		case <-time.After(jitter(wait)):
		}
	}
	return nil
}

// Refresh fetches the bootstrap once, for short-lived programs. A failure leaves
// the current one in use. It must not be called while Run is running.
func (c *Client) Refresh(ctx context.Context) error {
	return c.opts.Limiter.Do(ctx, c.bootstrapURL.Host, func(ctx context.Context) error {
		fault := c.loadBootstrap(ctx)
		if fault != nil {
			fault.Detail = c.bootstrapURL.Host
			return fault
		}
		return nil
	})
}

// refreshOnce fetches the bootstrap. It returns the delay before the next fetch and
// the number of consecutive failures.
func (c *Client) refreshOnce(ctx context.Context, failures int) (time.Duration, int) {
	err := c.Refresh(ctx)
	switch {
	case ctx.Err() != nil: // shutting down; not a failure
	case err != nil && failures == 0:
		c.opts.Logger.WarnContext(ctx, "rdap bootstrap refresh failed",
			"host", c.bootstrapURL.Host, "fault", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
	case err == nil && failures > 0:
		c.opts.Logger.InfoContext(ctx, "rdap bootstrap refresh recovered", "host", c.bootstrapURL.Host)
	}
	if err != nil {
		return retryDelay(failures, c.opts.Refresh), failures + 1
	}
	return c.opts.Refresh, 0
}

// retryDelay doubles from a minute to an hour, or to the refresh interval.
func retryDelay(failures int, refresh time.Duration) time.Duration {
	return min(firstRetry<<min(failures, 6), lastRetry, refresh)
}

// jitter varies a delay by up to a tenth in either direction.
func jitter(wait time.Duration) time.Duration {
	return wait - wait/10 + rand.N(wait/5+1) //nolint:gosec // need not be unpredictable
}

// loadBootstrap replaces the document if the fetched one is newer and complete.
func (c *Client) loadBootstrap(ctx context.Context) *registrar.Error {
	ctx, cancel := context.WithTimeout(ctx, bootstrapTimeout)
	defer cancel()
	header := http.Header{"Accept": {"application/json"}}
	current := c.bootstrap.Load()
	if current != nil && current.etag != "" {
		header.Set("If-None-Match", current.etag)
	}
	reply, fault := c.get(ctx, c.bootstrapURL, true, header, maxBootstrapBytes)
	switch {
	case fault != nil:
		return fault
	case reply.status == http.StatusNotModified && current != nil:
		return nil
	case reply.status == http.StatusTooManyRequests:
		return throttledFault(reply)
	case reply.status != http.StatusOK:
		return registrar.Fault(registrar.FaultBroken, "", nil)
	}
	list, err := parseBootstrap(reply.body)
	if err != nil {
		return registrar.Fault(registrar.FaultBroken, "", err)
	}
	list.etag = reply.header.Get("ETag")
	c.bootstrap.Store(list)
	return nil
}
