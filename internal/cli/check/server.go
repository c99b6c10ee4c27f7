package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// serverTimeout limits one request. The contract promises six seconds.
	serverTimeout = 15 * time.Second
	maxServerBody = 64 << 10
	// maxRefusals and maxFailures limit the attempts for one name.
	maxRefusals = 20
	maxFailures = 3
	// defaultRetry is the wait after a 429 without Retry-After.
	defaultRetry = time.Minute
)

// service is a client of the public interface of a running service.
type service struct {
	address string
	client  *http.Client
	pacer   *pacer
	backoff time.Duration
}

func newService(baseURL string) *service {
	return &service{
		address: baseURL + "/api/domain/check",
		client: &http.Client{
			Timeout: serverTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse // rate limits belong to the given URL
			},
		},
		pacer:   newPacer(time.Now),
		backoff: time.Second,
	}
}

var (
	errRefused   = errors.New("rate limited")
	errNoService = errors.New("no valid response")
)

// check looks up one name and retries a bounded number of times. The pacer delays each attempt.
func (s *service) check(ctx context.Context, name string) row {
	refusals, failures := 0, 0
	for {
		r, err := s.try(ctx, name)
		switch {
		case err == nil:
			return r
		case ctx.Err() != nil:
			return failedRow(name, errorUpstream, "interrupted")
		case errors.Is(err, errRefused):
			if refusals++; refusals == maxRefusals {
				return failedRow(name, errorRateLimited, "rate limit of the service")
			}
		default:
			if failures++; failures == maxFailures {
				return failedRow(name, errorUpstream, "service unreachable")
			}
			sleep(ctx, s.backoff<<failures)
		}
	}
}

// probeLimits looks up one name to learn the rate limits. answered is false if the request
// was refused, which also reveals the limits. It fails if no service responds, because the
// other names would fail, too.
func (s *service) probeLimits(ctx context.Context, name string) (r row, answered bool, err error) {
	r, err = s.try(ctx, name)
	switch {
	case err == nil:
		return r, true, nil
	case ctx.Err() != nil:
		return r, false, cli.ExitCode(cli.ExitInterrupted)
	case errors.Is(err, errRefused):
		return r, false, nil
	default:
		return r, false, fmt.Errorf("no service responds at %s (check the URL and whether the service is running)",
			strings.TrimSuffix(s.address, "/api/domain/check"))
	}
}

// try sends one request. Its errors are errRefused and errNoService.
func (s *service) try(ctx context.Context, name string) (row, error) {
	if err := s.pacer.wait(ctx); err != nil {
		return row{}, err
	}
	report := limitReport{}
	defer func() { s.pacer.done(report) }()
	body, err := cli.EncodeJSON(map[string]string{"domain": name})
	if err != nil {
		return row{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address, bytes.NewReader(body))
	if err != nil {
		return row{}, errNoService
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "dotkontor/"+app.Version)
	response, err := s.client.Do(request)
	if err != nil {
		return row{}, errNoService
	}
	defer response.Body.Close()
	report = readLimits(response)
	if report.refused {
		return row{}, errRefused
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxServerBody))
	if err != nil {
		return row{}, errNoService
	}
	return readAnswer(name, response.StatusCode, text)
}

func readLimits(response *http.Response) limitReport {
	report := limitReport{windows: cli.ParseRateLimitPolicy(response.Header.Get("RateLimit-Policy"))}
	state := response.Header.Get("RateLimit")
	remaining, okRemaining := cli.ParseParam(state, "r")
	reset, okReset := cli.ParseParam(state, "t")
	// The service names a window by its length: "60s".
	label, _, _ := strings.Cut(state, ";")
	if per, err := time.ParseDuration(strings.Trim(label, `" `)); err == nil && okRemaining && okReset {
		report.per, report.remaining, report.reset = per, remaining, clampDelay(reset)
	}
	if response.StatusCode == http.StatusTooManyRequests {
		report.refused, report.retryAfter = true, defaultRetry
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds >= 0 {
			report.retryAfter = clampDelay(seconds)
		}
	}
	return report
}

// clampDelay limits the wait that a server requests.
func clampDelay(seconds int) time.Duration {
	return time.Duration(min(seconds, int(cli.MaxWindow/time.Second))) * time.Second
}

// serverAnswer is the union of the contract's CheckResult, UnsupportedResult and Error.
type serverAnswer struct {
	row
	Supported *bool `json:"supported"`
	// The prices of other services may be written differently.
	RegisterEUR json.Number `json:"registerEur"`
	RenewEUR    json.Number `json:"renewEur"`
	TransferEUR json.Number `json:"transferEur"`
	RestoreEUR  json.Number `json:"restoreEur"`
}

// readAnswer converts a response into a row. Responses outside the contract are errNoService.
func readAnswer(name string, status int, text []byte) (row, error) {
	var a serverAnswer
	if err := json.Unmarshal(text, &a); err != nil {
		return row{}, errNoService
	}
	switch {
	case status == http.StatusOK && a.Supported != nil && !*a.Supported:
		r := failedRow(name, errorUnsupported, errorTexts[registrar.ExtensionNotCarried])
		r.TLD = a.TLD
		return r, nil
	case status == http.StatusOK && a.TLD != "":
		if !sameDomain(name, a.Domain) {
			return row{}, errNoService // a response about another name
		}
		r := a.row
		r.RegisterEUR, r.RenewEUR, r.TransferEUR = parseEuros(a.RegisterEUR), parseEuros(a.RenewEUR), parseEuros(a.TransferEUR)
		r.RestoreEUR = parseEuros(a.RestoreEUR)
		r.Error, r.Message = "", ""
		return r, nil
	case status == http.StatusBadRequest && a.Error != "":
		return failedRow(name, errorInvalid, a.Error), nil
	case status == http.StatusBadGateway && a.Error != "":
		return failedRow(name, errorUpstream, a.Error), nil
	default:
		return row{}, errNoService
	}
}

func sameDomain(asked, answered string) bool {
	one, err := registrar.ParseHost(asked)
	if err != nil {
		return false
	}
	other, err := registrar.ParseHost(answered)
	return err == nil && one == other
}

func failedRow(name, word, message string) row {
	return row{Domain: name, Error: word, Message: message}
}

// parseEuros parses a JSON number of euros without a float: 6.9 and 6.90 are the same
// price. It returns nil for anything but a plain amount.
func parseEuros(number json.Number) *registrar.Cents {
	euros, decimals, _ := strings.Cut(string(number), ".")
	cents, err := registrar.ParseCents(euros + "." + (decimals + "00")[:max(2, len(decimals))])
	if err != nil {
		return nil
	}
	return &cents
}

func sleep(ctx context.Context, delay time.Duration) {
	select {
	case <-time.After(delay):
	case <-ctx.Done():
	}
}
