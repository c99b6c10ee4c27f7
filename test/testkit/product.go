package testkit

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// scrapeTimeout bounds one scrape.
const scrapeTimeout = 10 * time.Second

// Product is the product and its simulated world, one process each.
type Product struct {
	World, Server *Process
	Log           *os.File
	metrics       string // address
}

// StartProduct runs world and product as two processes with a configuration file. Their
// data is in folder.
func StartProduct(ctx context.Context, binary, folder string, worldFlags, settings []string) (*Product, error) {
	return StartProductBehind(ctx, binary, folder, worldFlags, settings, nil)
}

// StartProductBehind is StartProduct with a proxy between product and world: between
// rewrites the configuration that the product starts with.
func StartProductBehind(ctx context.Context, binary, folder string, worldFlags, settings []string, between func(string) (string, error)) (*Product, error) {
	r := &Product{}
	var err error
	r.World, err = Start(ctx, Command{Path: binary, Args: append([]string{
		"sandbox", "--world-only", "--listen", "127.0.0.1:0", "--data", filepath.Join(folder, "world"),
	}, worldFlags...)})
	if err != nil {
		return nil, err
	}
	if r.Log, err = os.Create(filepath.Join(folder, "product.log")); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	if r.metrics, err = FreeAddress(ctx); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	config := r.World.Ready
	if between != nil {
		if config, err = rewriteConfig(config, filepath.Join(folder, "behind.toml"), between); err != nil {
			return nil, errors.Join(err, r.Stop())
		}
	}
	r.Server, err = Start(ctx, Command{
		Path: binary,
		Args: []string{"serve", "--config", config},
		Environment: append([]string{
			"DOTKONTOR_SERVER_TRUSTED_PROXIES=127.0.0.1",
			"DOTKONTOR_SERVER_METRICS_LISTEN=" + r.metrics,
		}, settings...),
		Stderr: r.Log,
	})
	if err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	provider, err := FindProvider(filepath.Join(folder, "world"))
	if err == nil {
		err = provider.SetWebhookURL(ctx, r.Server.Ready)
	}
	if err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return r, nil
}

func rewriteConfig(from, to string, between func(string) (string, error)) (string, error) {
	text, err := os.ReadFile(from)
	if err != nil {
		return "", err
	}
	changed, err := between(string(text))
	if err != nil {
		return "", err
	}
	return to, os.WriteFile(to, []byte(changed), 0o600)
}

// FreeAddress returns a loopback address for a process that has to know its address
// before it starts. The port is below the ephemeral range, so that no other process gets
// it by listening on port 0.
func FreeAddress(ctx context.Context) (string, error) {
	const lowest, highest, tries = 20_000, 32_000, 100
	var config net.ListenConfig
	var err error
	for range tries {
		var listener net.Listener
		port := lowest + rand.IntN(highest-lowest)
		if listener, err = config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return listener.Addr().String(), listener.Close()
		}
	}
	return "", err
}

// Stop stops both processes.
func (r *Product) Stop() error {
	var err error
	for _, p := range []*Process{r.Server, r.World} {
		if p != nil {
			err = errors.Join(err, p.Stop())
		}
	}
	if r.Log != nil {
		err = errors.Join(err, r.Log.Close())
	}
	return err
}

// Metrics scrapes the product's metrics in Prometheus text format.
func (r *Product) Metrics(ctx context.Context) (Metrics, error) {
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.metrics+"/metrics", http.NoBody)
	if err != nil {
		return "", err
	}
	// Not the default client, which would use a proxy of the environment.
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 4<<20))
	return Metrics(text), err
}

// Metrics is one scrape.
type Metrics string

// Sample returns the value of a series, or 0 if there is none.
func (m Metrics) Sample(series string) float64 {
	for row := range strings.Lines(string(m)) {
		if rest, found := strings.CutPrefix(row, series+" "); found {
			value, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				return 0
			}
			return value
		}
	}
	return 0
}
