package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/store"
)

// The requests of an order to the product, in order.
const (
	startOrder    = "start_order"
	viewPage      = "GET payment_url"
	submitPayment = "POST pay"
	returnPage    = "GET paid"
	pollStatus    = "get_order_status"
	// wholeOrder is the time of all of them, including what happens in between.
	wholeOrder = "order"
)

var requestKinds = []string{startOrder, viewPage, submitPayment, returnPage, pollStatus}

const (
	// pollInterval is the time between two polls of an agent.
	pollInterval = 250 * time.Millisecond
	// maxBody bounds the bytes read of a response.
	maxBody = 1 << 20
	// maxTries is how often a request is sent that a busy server answers with 503 and
	// Retry-After, or a tool with a retryable error; firstPause is the time before the second
	// call of a tool, and doubles.
	maxTries   = 6
	firstPause = time.Second
)

// buyer is an account with an agent and a browser.
type buyer struct {
	token, session string
	// card is unique per buyer, because the sandbox's provider identifies cards by
	// number.
	card string
}

// shopClient is the client of agents and customers for the product and the provider.
type shopClient struct {
	address string
	http    *http.Client
}

func newShopClient(address string) *shopClient {
	return &shopClient{address: address, http: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 2 * concurrentOrders},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (s *shopClient) close() { s.http.CloseIdleConnections() }

var (
	grossField   = regexp.MustCompile(`name="gross" value="(\d+)"`)
	consentField = regexp.MustCompile(`name="consent" value="([^"]+)"`)
)

// buy orders and pays names, and returns when they are registered.
func (s *shopClient) buy(ctx context.Context, who buyer, note func(string, time.Duration), names ...string) error {
	var order struct {
		OrderID    string `json:"orderId"`
		PaymentURL string `json:"payment_url"`
	}
	var items []map[string]string
	for _, name := range names {
		items = append(items, map[string]string{"domain": name, "type": "register"})
	}
	err := s.callTool(ctx, who, startOrder, map[string]any{"items": items}, &order, note)
	if err != nil {
		return err
	}
	page, _, err := s.browse(ctx, who, viewPage, http.MethodGet, order.PaymentURL, nil, http.StatusOK, note)
	if err != nil {
		return err
	}
	gross := grossField.FindSubmatch(page)
	if gross == nil {
		return errors.New("the page has no sum that can be paid")
	}
	form := url.Values{"gross": {string(gross[1])}}
	if consent := consentField.FindSubmatch(page); consent != nil {
		form.Set("consent", string(consent[1]))
	}
	_, provider, err := s.browse(ctx, who, submitPayment, http.MethodPost, order.PaymentURL+"/pay", form, http.StatusSeeOther, note)
	if err != nil {
		return err
	}
	_, back, err := s.browse(ctx, buyer{}, "", http.MethodPost, provider, url.Values{"cardNumber": {who.card}}, http.StatusSeeOther, note)
	if err != nil {
		return err
	}
	if _, _, err := s.browse(ctx, who, returnPage, http.MethodGet, back, nil, 0, note); err != nil {
		return err
	}
	for {
		var status struct {
			Status string `json:"status"`
		}
		if err := s.callTool(ctx, who, pollStatus, map[string]any{"orderId": order.OrderID}, &status, note); err != nil {
			return err
		}
		switch status.Status {
		case "completed":
			return nil
		case "provisioning", "paying":
		default:
			return fmt.Errorf("the order is %s", status.Status)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollInterval):
		}
	}
}

// callTool calls a tool, and again after an error that it may be called again after.
func (s *shopClient) callTool(ctx context.Context, who buyer, tool string, arguments map[string]any, into any, note func(string, time.Duration)) error {
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments},
	})
	if err != nil {
		return err
	}
	for try, wait := 1, firstPause; ; try, wait = try+1, 2*wait {
		again, err := s.callToolOnce(ctx, who, tool, body, into, note)
		if err == nil || !again || try == maxTries {
			return err
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// pause waits, unless ctx ends before.
func pause(ctx context.Context, wait time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}

func (s *shopClient) callToolOnce(ctx context.Context, who buyer, tool string, body []byte, into any, note func(string, time.Duration)) (retryable bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+toolRoute, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	request.Header.Set("Authorization", "Bearer "+who.token)
	text, _, err := s.do(request, tool, http.StatusOK, note)
	if err != nil {
		return false, err
	}
	var answer struct {
		Result struct {
			IsError bool            `json:"isError"`
			Output  json.RawMessage `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Result.IsError || answer.Result.Output == nil {
		var problem struct {
			Retryable bool `json:"retryable"`
		}
		_ = json.Unmarshal(answer.Result.Output, &problem) // then it is not retryable
		return problem.Retryable, fmt.Errorf("%s answered %s", tool, text[:min(len(text), 1000)])
	}
	return false, json.Unmarshal(answer.Result.Output, into)
}

// browse sends a browser's request. Status 0 accepts a page or a redirect.
func (s *shopClient) browse(ctx context.Context, who buyer, kind, method, address string, form url.Values, status int, note func(string, time.Duration)) (body []byte, location string, err error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, "", err
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if who.session != "" {
		request.AddCookie(&http.Cookie{Name: "dotkontor", Value: who.session})
	}
	return s.do(request, kind, status, note)
}

// do sends a request, and again when a busy server asks for that. It records the time to the end
// of each response.
func (s *shopClient) do(request *http.Request, kind string, status int, note func(string, time.Duration)) (body []byte, location string, err error) {
	for try := 1; ; try++ {
		var wait time.Duration
		body, location, wait, err = s.doOnce(request, kind, status, note)
		if wait == 0 || try == maxTries {
			return body, location, err
		}
		if err := pause(request.Context(), wait); err != nil {
			return nil, "", err
		}
		if request.Body, err = request.GetBody(); err != nil {
			return nil, "", err
		}
	}
}

// doOnce sends a request. wait is set if the server is busy.
func (s *shopClient) doOnce(request *http.Request, kind string, status int, note func(string, time.Duration)) (body []byte, location string, wait time.Duration, err error) {
	began := time.Now()
	answer, err := s.http.Do(request)
	if err != nil {
		return nil, "", 0, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(io.LimitReader(answer.Body, maxBody))
	if err != nil {
		return nil, "", 0, err
	}
	if kind != "" {
		note(kind, time.Since(began))
	}
	if status != 0 && answer.StatusCode != status || answer.StatusCode >= http.StatusBadRequest {
		return nil, "", busyWait(answer), fmt.Errorf("%s: status %d: %s", kind, answer.StatusCode, body[:min(len(body), 2000)])
	}
	return body, answer.Header.Get("Location"), 0, nil
}

// busyWait returns how long a busy server asks its client to wait; 0 if it does not.
func busyWait(answer *http.Response) time.Duration {
	if answer.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After")) // 0 without the header
	return time.Duration(seconds) * time.Second
}

// seedBuyers creates accounts with registrant data, a token and a signed-in browser.
func seedBuyers(ctx context.Context, opts store.Options, count int) (accounts []buyer, err error) {
	db, err := store.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	writer := db.SQL().Writer()
	tx, err := writer.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // no-op after a commit
	now := time.Now()
	for n := range count {
		id, email := registrar.NewID("cus_", now), fmt.Sprintf("buyer-%d@example.org", n)
		token, tokenHash := registrar.NewSecret(registrar.PersonalToken)
		session, sessionHash := registrar.NewSecret(registrar.SessionSecret)
		accounts = append(accounts, buyer{token: token, session: session, card: cardNumber(n)})
		for _, row := range []struct {
			statement string
			values    []any
		}{
			{
				// Accounts get the date of their first data reminder soon after they are opened,
				// and no purchase pays for it.
				`INSERT INTO customers (id, email, email_key, user_handle, language, created_at, confirmed_at, data_reminder_at)
				 VALUES ($1, $2, $3, $4, $5, $6, $6, $6)`,
				[]any{id, email, email, "buyer-" + fmt.Sprint(n), "de", now.UnixMicro()},
			},
			{
				`INSERT INTO registrants (customer_id, kind, name, organisation, street, postal_code, city, state, country, phone, vat_id, updated_at)
				 VALUES ($1, 'person', 'Erika Mustermann', '', 'Musterweg 1', '10115', 'Berlin', '', 'DE', '+49.30123456', '', $2)`,
				[]any{id, now.UnixMicro()},
			},
			{
				`INSERT INTO personal_access_tokens (id, customer_id, name, hash, created_at) VALUES ($1, $2, 'bench', $3, $4)`,
				[]any{registrar.NewID("tok_", now), id, string(tokenHash), now.UnixMicro()},
			},
			{
				`INSERT INTO sessions (hash, id, customer_id, state, address, user_agent, device, created_at, authenticated_at, seen_at, expires_at)
				 VALUES ($1, $2, $3, 'open', '127.0.0.1', 'bench', '', $4, $4, $4, $5)`,
				[]any{string(sessionHash), registrar.NewID("ses_", now), id, now.UnixMicro(), now.Add(24 * time.Hour).UnixMicro()},
			},
		} {
			if _, err := tx.ExecContext(ctx, row.statement, row.values...); err != nil {
				return nil, err
			}
		}
	}
	return accounts, tx.Commit()
}

// cardNumber returns a valid card of the sandbox: it begins with 424242 and ends with
// the check digit of ISO/IEC 7812.
func cardNumber(n int) string {
	number := fmt.Sprintf("424242%09d", n)
	sum := 0
	for i, digit := range number {
		value := int(digit - '0')
		if i%2 == 0 { // every second digit from the end, which is still without the check digit
			if value *= 2; value > 9 {
				value -= 9
			}
		}
		sum += value
	}
	return number + fmt.Sprint((10-sum%10)%10)
}
