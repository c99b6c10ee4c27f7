package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// responseDeadline is the contract's: a check responds within six seconds.
const responseDeadline = 6 * time.Second

// probe is a name whose state in the sandbox's world is known.
type probe struct {
	label string
	// taken and free are true if the name is known to be taken or available.
	taken, free bool
}

// probes are names that are taken everywhere, taken but not in the DNS, reserved, and
// available ones with a number.
var probes = []probe{
	{label: "google", taken: true},
	{label: "amazon", taken: true},
	{label: "ohne-dns", taken: true},
	{label: "reserved", taken: true},
	{label: "soak-", free: true},
	{label: "soak-kaffeehaus-", free: true},
	{label: "unknown-soak-"},
}

// extensions are served by many different hosts, with RDAP, WHOIS, both or none.
var extensions = []string{
	".de", ".com", ".eu", ".net", ".org", ".shop", ".io", ".dev", ".at", ".ch", ".co.uk", ".berlin", ".xyz", ".online",
	".me", ".co", ".info", ".gr", ".be", ".se", ".dk", ".it", ".app", ".biz",
}

const numbers = 40

// addresses is the number of simulated clients.
const addresses = 1024

// outcome counts responses.
type outcome struct {
	answers map[string]int
	wrong   []string
	took    []time.Duration
}

func (o *outcome) add(other outcome) {
	for kind, n := range other.answers {
		o.answers[kind] += n
	}
	o.wrong = append(o.wrong, other.wrong...)
	o.took = append(o.took, other.took...)
}

// percentile sorts the durations.
func (o *outcome) percentile(share float64) time.Duration {
	if len(o.took) == 0 {
		return 0
	}
	slices.Sort(o.took)
	return o.took[min(len(o.took)-1, int(share*float64(len(o.took))))]
}

// runLoad runs workers concurrently, each as fast as it gets responses.
func runLoad(ctx context.Context, base string, workers int, duration time.Duration) (outcome, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: workers}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 2 * responseDeadline}
	ctx, cancel := context.WithTimeout(ctx, duration+4*responseDeadline)
	defer cancel()

	total := outcome{answers: make(map[string]int)}
	var (
		mu       sync.Mutex
		problems []error
		all      sync.WaitGroup
		end      = time.Now().Add(duration)
	)
	for range workers {
		all.Go(func() {
			mine := outcome{answers: make(map[string]int)}
			var err error
			for err == nil && time.Now().Before(end) {
				err = checkRandomName(ctx, client, base, &mine)
			}
			mu.Lock()
			defer mu.Unlock()
			total.add(mine)
			if err != nil {
				problems = append(problems, err)
			}
		})
	}
	all.Wait()
	return total, errors.Join(problems...)
}

// checkRandomName checks one name and compares the answer with the known state.
func checkRandomName(ctx context.Context, client *http.Client, base string, o *outcome) error {
	q := probes[rand.N(len(probes))]
	tld := extensions[rand.N(len(extensions))]
	label := q.label
	if !q.taken {
		label += strconv.Itoa(rand.N(numbers))
	}
	body, err := json.Marshal(map[string]string{"domain": label + tld})
	if err != nil {
		return err
	}
	leaves := rand.N(50) == 0
	if leaves {
		var leave context.CancelFunc
		ctx, leave = context.WithTimeout(ctx, time.Duration(rand.N(300))*time.Millisecond)
		defer leave()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/api/domain/check", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	// Many addresses, so that limits are enabled but not reached.
	address := rand.N(addresses)
	request.Header.Set("X-Forwarded-For", fmt.Sprintf("10.0.%d.%d", address/256, address%256))
	began := time.Now()
	response, err := client.Do(request)
	if err != nil {
		if leaves && ctx.Err() != nil {
			o.answers["left"]++
			return nil
		}
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		if leaves && ctx.Err() != nil {
			o.answers["left"]++
			return nil
		}
		return err
	}
	o.took = append(o.took, time.Since(began))
	var answer struct{ Available *bool }
	if err := json.Unmarshal(text, &answer); err != nil {
		return fmt.Errorf("status %d with %q: %w", response.StatusCode, text, err)
	}
	o.recordCheck(q, response.StatusCode, answer.Available)
	return nil
}

// recordCheck classifies the answer, and records it if it is wrong.
func (o *outcome) recordCheck(q probe, status int, available *bool) {
	kind := "null"
	switch {
	case status == http.StatusBadGateway:
		kind = "502"
	case status != http.StatusOK:
		kind = strconv.Itoa(status)
		o.wrong = append(o.wrong, q.label+": status "+kind)
	case available != nil && *available:
		kind = "free"
		if !q.free {
			o.wrong = append(o.wrong, q.label+": called free")
		}
	case available != nil:
		kind = "taken"
		if !q.taken {
			o.wrong = append(o.wrong, q.label+": called taken")
		}
	}
	o.answers[kind]++
}
