package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

const (
	wantedPage = 5.0 // milliseconds
	// pageInterval is 200 pages a second, and pageDuration how long each page is
	// requested.
	pageInterval       = 5 * time.Millisecond
	pageDuration       = 3 * time.Second
	pageWarmup         = 300 * time.Millisecond
	maxConcurrentPages = 64
	wantedScreen       = 20.0 // milliseconds
	firstRows          = 40
	firstRowWarm       = 5
)

// measuredPages are the pages that need no upstream, by the route in the log. A
// signed-in customer requests all of them.
var measuredPages = []struct{ path, route string }{
	{"/", "/{$}"},
	{"/preise", "/preise"},
	{"/prices?category=country&sort=first", "/prices"},
	{"/preise.csv", "/preise.csv"},
	{"/assistent", "/assistent"},
	{"/portal/sign-in", "/portal/sign-in"},
	{"/portal/profile", "/portal/profile"},
	{"/portal/domains", "/portal/domains"},
	{"/portal/orders", "/portal/orders"},
	{"/portal/security", "/portal/security"},
	{"/portal/tokens", "/portal/tokens"},
	{"/portal/apps", "/portal/apps"},
	{"/portal/activity", "/portal/activity"},
}

// benchPages measures the server time of pages at 200 requests a second, by the
// server's own log; and the time from the first registry response until the first row
// of a search leaves the server and is on the screen.
func benchPages(ctx context.Context, b bench) (lines []measurement, err error) {
	folder := filepath.Join(b.folder, "pages")
	world := &upstreamProxy{}
	defer world.stop()
	running, err := testkit.StartProductBehind(ctx, b.binary, folder, []string{"--world-latency", worldLatency}, nil, world.rewriteConfig)
	if err != nil {
		return nil, err
	}
	stopped := false
	defer func() {
		if !stopped {
			err = errors.Join(err, running.Stop())
		}
	}()
	if err := seedAccounts(ctx, filepath.Join(folder, "world"), 1); err != nil {
		return nil, err
	}
	v := &pageClient{base: running.Server.Ready, client: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: maxConcurrentPages},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if err := v.signIn(ctx); err != nil {
		return nil, err
	}
	b.progress("each of %d pages %s long at %d a second", len(measuredPages), pageDuration, int(time.Second/pageInterval))
	since := make(map[string]time.Time) // by route; earlier requests are warm-up
	for _, page := range measuredPages {
		for _, duration := range []time.Duration{pageWarmup, pageDuration} {
			since[page.route] = time.Now()
			if err := v.getAtFixedRate(ctx, page.path, duration); err != nil {
				return nil, fmt.Errorf("%s: %w", page.path, err)
			}
		}
	}
	b.progress("%d searches, every upstream at %s", firstRows, worldLatency)
	rows, err := v.firstRowTimes(ctx, world)
	if err != nil {
		return nil, err
	}
	screen, err := screenTimes(ctx, b, v.base, world)
	if err != nil {
		return nil, err
	}
	stopped = true
	if err := running.Stop(); err != nil { // the log is complete then
		return nil, err
	}
	times, err := readPageTimes(filepath.Join(folder, "product.log"), since)
	if err != nil {
		return nil, err
	}
	lines, err = pageMeasurements(times)
	lines = append(lines,
		newMeasurement("first row of a search, after the first upstream answered, p50", median(rows), milliseconds, atMost(wantedScreen), "at the client's socket; every upstream at 80 ms, and its first word was noted"),
		newMeasurement("  p99", percentile(rows, 0.99), milliseconds, nil, strconv.Itoa(len(rows))+" searches, no name twice"))
	if len(screen) > 0 {
		lines = append(lines, newMeasurement("  on the screen of a browser, p50", median(screen), milliseconds, atMost(wantedScreen), "from that word to the frame after the row; "+strconv.Itoa(len(screen))+" searches"))
	}
	return lines, err
}

// pageClient is a customer's browser, as the server sees it.
type pageClient struct {
	base   string
	client *http.Client
	cookie string
}

func (v *pageClient) signIn(ctx context.Context) error {
	form := url.Values{"email": {accountEmail(0)}, "password": {signInPassword}}
	response, err := v.post(ctx, signInRoute, form, "")
	for try := 1; err == nil && busyWait(response) > 0 && try < maxTries; try++ {
		if err := errors.Join(response.Body.Close(), pause(ctx, busyWait(response))); err != nil {
			return err
		}
		response, err = v.post(ctx, signInRoute, form, "")
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	for _, cookie := range response.Cookies() {
		if cookie.Name == "dotkontor" {
			v.cookie = cookie.Name + "=" + cookie.Value
		}
	}
	if v.cookie == "" {
		return fmt.Errorf("the sign-in answered %d without a session", response.StatusCode)
	}
	return nil
}

func (v *pageClient) post(ctx context.Context, path string, form url.Values, address string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, v.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if address != "" {
		request.Header.Set("X-Forwarded-For", address)
	}
	return v.client.Do(request)
}

// getAtFixedRate requests one page at a fixed rate, however long the responses take.
func (v *pageClient) getAtFixedRate(ctx context.Context, path string, duration time.Duration) error {
	var (
		all      sync.WaitGroup
		mu       sync.Mutex
		failures []error
	)
	places := make(chan struct{}, maxConcurrentPages)
	ticker := time.NewTicker(pageInterval)
	defer ticker.Stop()
	for range int(duration / pageInterval) {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			if err := v.get(ctx, path); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failures = append(failures, err)
			}
		})
	}
	all.Wait()
	return errors.Join(failures...)
}

func (v *pageClient) get(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base+path, http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "text/html")
	request.Header.Set("Cookie", v.cookie)
	response, err := v.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	// A signed-in customer is redirected from the sign-in.
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusSeeOther {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// firstRowTimes returns the milliseconds from the first registry response to the first
// row.
func (v *pageClient) firstRowTimes(ctx context.Context, world *upstreamProxy) ([]float64, error) {
	latency, err := time.ParseDuration(worldLatency)
	if err != nil {
		return nil, err
	}
	var times []float64
	for n := range firstRows + firstRowWarm {
		next := time.After(3 * searchInterval) // below the rate limit of every host
		began := time.Now()
		came, err := v.firstRow(ctx, "erste-zeile-"+strconv.Itoa(n), "10.1.1."+strconv.Itoa(1+n))
		if err != nil {
			return nil, err
		}
		answered, err := world.firstResponseAfter(began, latency)
		if err != nil {
			return nil, err
		}
		if n >= firstRowWarm {
			times = append(times, float64(came.Sub(answered).Microseconds())/1000)
		}
		select {
		case <-next:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return times, nil
}

// firstRow returns the time of the first row.
func (v *pageClient) firstRow(ctx context.Context, name, address string) (came time.Time, err error) {
	response, err := v.post(ctx, "/search", url.Values{"q": {name}}, address)
	if err != nil {
		return came, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	free := 0
	for lines.Scan() {
		switch {
		case lines.Text() == "event: row" && came.IsZero():
			came = time.Now()
		case strings.HasPrefix(lines.Text(), "data: ") && strings.Contains(lines.Text(), "hit free"):
			free++
		}
	}
	if err := lines.Err(); err != nil {
		return came, err
	}
	if came.IsZero() || free < 8 {
		return came, fmt.Errorf("a search returned %d available names instead of 8", free)
	}
	return came, nil
}

// readPageTimes returns the milliseconds of each page since a given time, by route, as
// logged.
func readPageTimes(path string, since map[string]time.Time) (times map[string][]float64, err error) {
	log, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	times = make(map[string][]float64)
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		var record struct {
			Time   time.Time `json:"time"`
			Msg    string    `json:"msg"`
			Method string    `json:"method"`
			Route  string    `json:"route"`
			Micros float64   `json:"us"`
		}
		if json.Unmarshal(lines.Bytes(), &record) != nil || record.Msg != "request" || record.Method != http.MethodGet {
			continue // other programs may write there, too
		}
		if began, shown := since[record.Route]; shown && record.Time.After(began) {
			times[record.Route] = append(times[record.Route], record.Micros/1000)
		}
	}
	return times, lines.Err()
}

// pageMeasurements returns the measurements; the slowest page decides.
func pageMeasurements(times map[string][]float64) ([]measurement, error) {
	var slowest string
	var all []float64
	for _, page := range measuredPages {
		own := times[page.route]
		if len(own) < int(pageDuration/pageInterval) {
			return nil, fmt.Errorf("the log has %d requests of %s", len(own), page.route)
		}
		all = append(all, own...)
		if slowest == "" || percentile(own, 0.99) > percentile(times[slowest], 0.99) {
			slowest = page.route
		}
	}
	slices.Sort(all)
	return []measurement{
		newMeasurement("page without upstream at 200 a second, server time, p99 of the slowest", percentile(times[slowest], 0.99), milliseconds, atMost(wantedPage), slowest+"; "+strconv.Itoa(len(measuredPages))+" pages, one after another"),
		newMeasurement("  p99 over all", percentile(all, 0.99), milliseconds, nil, grouped(strconv.Itoa(len(all)))+" requests"),
		newMeasurement("  p50 over all", percentile(all, 0.5), milliseconds, nil, "client and server share the cores"),
	}, nil
}
