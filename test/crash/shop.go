package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// Cards of the simulated provider.
const (
	CardGood     = "4242424242424242"
	CardDeclined = "4000000000000002"
)

// demo has the credentials of the demo customer.
type demo struct {
	Email    string `json:"email"`
	Password string `json:"password"`
	Token    string `json:"token"`
}

// Shop is an Env in which an agent orders and a customer pays. Both retry requests
// without a response, because the product may be killed at any moment.
type Shop struct {
	*Env
	testkit.Provider
	Base string

	demo   demo
	agent  agent
	client *http.Client
	// supervisor restarts the product.
	supervisor *Supervisor
	// inFlightConflicts counts retries that got idempotency_in_flight.
	inFlightConflicts atomic.Int64
}

// settings raise the limits for a customer who orders continuously.
var settings = []string{
	"DOTKONTOR_ORDERS_MAX_OPEN=1000", "DOTKONTOR_ORDERS_VERIFY_OVER_EUR=1000000",
	"DOTKONTOR_LIMITS_TOKEN_PER_MINUTE=100000", "DOTKONTOR_LIMITS_TOKEN_PER_HOUR=100000",
	"DOTKONTOR_LIMITS_QUOTES_PER_MINUTE=100000", "DOTKONTOR_LIMITS_QUOTES_PER_HOUR=100000",
	"DOTKONTOR_LIMITS_AGENT_QUOTES_PER_MINUTE=100000", "DOTKONTOR_LIMITS_AGENT_QUOTES_PER_HOUR=100000",
	"DOTKONTOR_LIMITS_SESSIONS_PER_AGENT=100000",
}

// NewShop starts the world in folder. The product keeps its address across restarts,
// because links to it are stored.
func NewShop(ctx context.Context, binary, folder string, worldFlags ...string) (*Shop, error) {
	address, err := testkit.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	info := filepath.Join(folder, "info.json")
	env, err := NewEnv(ctx, binary, folder, append([]string{"--listen", address, "--info", info}, worldFlags...)...)
	if err != nil {
		return nil, err
	}
	s := &Shop{Env: env, Base: "http://" + address}
	s.Provider, err = testkit.FindProvider(env.Folder)
	var text []byte
	if err == nil {
		text, err = os.ReadFile(info)
	}
	var parsed struct {
		Demo  demo  `json:"demo"`
		Agent agent `json:"agent"`
	}
	if err == nil {
		err = json.Unmarshal(text, &parsed)
	}
	jar, jarErr := cookiejar.New(nil)
	if err = errors.Join(err, jarErr); err != nil {
		return nil, errors.Join(err, env.Close())
	}
	s.demo, s.agent = parsed.Demo, parsed.Agent
	s.client = &http.Client{
		Jar: jar, Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s, nil
}

// Supervise is Env.Supervise with raised limits.
func (s *Shop) Supervise(ctx context.Context, end func(life int) (failpoint string)) *Supervisor {
	s.supervisor = s.Env.Supervise(ctx, end, settings...)
	return s.supervisor
}

// whileSupervised returns a context that ends if the product can't be restarted.
func (s *Shop) whileSupervised(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.supervisor.failed, func() { cancel(context.Cause(s.supervisor.failed)) })
	return ctx, func() { stop(); cancel(nil) }
}

// RetryUntil calls a function until it reports completion. Errors are retried, because a
// killed product does not respond.
func RetryUntil(ctx context.Context, what string, do func() (bool, error)) error {
	var last error
	for {
		done, err := do()
		if done {
			return nil
		}
		if err != nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w; last: %w", what, context.Cause(ctx), last)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Purchase is the result of start_order.
type Purchase struct {
	ID, PaymentURL string
}

// StartOrder orders names with start_order.
func (s *Shop) StartOrder(ctx context.Context, names ...string) (Purchase, error) {
	return s.startOrder(ctx, order.Register, names)
}

// StartTransferOrder orders a transfer with start_order.
func (s *Shop) StartTransferOrder(ctx context.Context, name string) (Purchase, error) {
	return s.startOrder(ctx, order.Transfer, []string{name})
}

func (s *Shop) startOrder(ctx context.Context, kind order.Kind, names []string) (Purchase, error) {
	var items []map[string]string
	for _, name := range names {
		items = append(items, map[string]string{"domain": name, "type": string(kind)})
	}
	var made Purchase
	err := RetryUntil(ctx, "start_order of "+strings.Join(names, " "), func() (bool, error) {
		var response struct {
			Order string `json:"orderId"`
			Link  string `json:"payment_url"`
		}
		if err := s.callTool(ctx, "start_order", map[string]any{"items": items}, &response); err != nil {
			return false, err
		}
		made = Purchase{response.Order, response.Link}
		return made.PaymentURL != "", nil
	})
	return made, err
}

// EnterAuthCode submits the auth code of an order's first item.
func (s *Shop) EnterAuthCode(ctx context.Context, p Purchase, code string) error {
	o, err := s.storedOrder(ctx, p.ID)
	if err != nil {
		return err
	}
	got, err := s.browse(ctx, http.MethodPost, p.PaymentURL+"/code", url.Values{"item": {o.Items[0].ID}, "code": {code}})
	if err == nil && got.status != http.StatusSeeOther {
		err = fmt.Errorf("auth code: status %d", got.status)
	}
	return err
}

// callTool calls a tool with the demo customer's token.
func (s *Shop) callTool(ctx context.Context, tool string, arguments, into any) error {
	failed, err := testkit.MCP{Base: s.Base, Token: s.demo.Token, Client: s.client}.Call(ctx, tool, arguments, into)
	if err == nil && failed {
		err = fmt.Errorf("%s failed: %+v", tool, into)
	}
	return err
}

// pageResponse is an HTTP response to a browser.
type pageResponse struct {
	status   int
	location string
	body     string
}

// browse sends a request as a browser does. Errors are connection errors.
func (s *Shop) browse(ctx context.Context, method, address string, fields url.Values) (pageResponse, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(fields.Encode()))
	if err != nil {
		return pageResponse{}, err
	}
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := s.client.Do(request)
	if err != nil {
		return pageResponse{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	location := response.Header.Get("Location")
	if strings.HasPrefix(location, "/") {
		location = request.URL.Scheme + "://" + request.URL.Host + location
	}
	return pageResponse{response.StatusCode, location, string(text)}, err
}

// SignIn signs the customer in. The session survives restarts.
func (s *Shop) SignIn(ctx context.Context) error {
	ctx, cancel := s.whileSupervised(ctx)
	defer cancel()
	return RetryUntil(ctx, "the sign-in", func() (bool, error) {
		got, err := s.browse(ctx, http.MethodPost, s.Base+"/portal/sign-in", url.Values{"email": {s.demo.Email}, "password": {s.demo.Password}})
		if err == nil && got.status != http.StatusSeeOther {
			err = fmt.Errorf("sign-in: status %d", got.status)
		}
		return err == nil, err
	})
}

// storedOrder reads an order from the database.
func (s *Shop) storedOrder(ctx context.Context, id string) (order.Order, error) {
	o, found, err := s.DB.OrderByID(ctx, id)
	if err == nil && !found {
		err = fmt.Errorf("no order %s", id)
	}
	return o, err
}

// OpenPaymentPage submits the order page once and returns the URL of the provider's page,
// or nothing if no payment is due.
func (s *Shop) OpenPaymentPage(ctx context.Context, p Purchase) (page string, err error) {
	o, err := s.storedOrder(ctx, p.ID)
	if err != nil {
		return "", err
	}
	return s.SubmitPayment(ctx, p, o)
}

// SubmitPayment submits the order page that shows this order.
func (s *Shop) SubmitPayment(ctx context.Context, p Purchase, shown order.Order) (page string, err error) {
	got, err := s.browse(ctx, http.MethodPost, p.PaymentURL+"/pay", url.Values{
		"gross": {strconv.FormatInt(int64(shown.Totals.Gross), 10)}, "items": {shown.ItemsDigest()}, "consent": {order.ConsentWording("de")},
	})
	switch {
	case err != nil:
		return "", err
	case got.status != http.StatusSeeOther:
		return "", fmt.Errorf("order %s: submit: status %d", p.ID, got.status)
	case strings.HasPrefix(got.location, s.Base):
		return "", nil
	}
	return got.location, nil
}

// PayByCard pays on the provider's page and returns the redirect, or nothing if the card
// was declined.
func (s *Shop) PayByCard(ctx context.Context, page, card string) (next string, err error) {
	got, err := s.browse(ctx, http.MethodPost, page, url.Values{"cardNumber": {card}})
	if err != nil || got.status != http.StatusSeeOther {
		return "", err
	}
	return got.location, nil
}

// Pay submits the order page and pays, repeatedly until no payment is due. returns
// reports whether the browser then returns to the product.
func (s *Shop) Pay(ctx context.Context, p Purchase, returns bool) error {
	return RetryUntil(ctx, "the payment of "+p.ID, func() (bool, error) {
		o, err := s.storedOrder(ctx, p.ID)
		if err != nil || !o.State.Open() {
			return err == nil, err
		}
		page, err := s.OpenPaymentPage(ctx, p)
		if err != nil || page == "" {
			return false, err
		}
		next, err := s.PayByCard(ctx, page, CardGood)
		if err != nil || next == "" || !returns {
			return false, err
		}
		_, err = s.browse(ctx, http.MethodGet, next, nil)
		return false, err
	})
}

// BuyWithoutReturn orders a name and pays. The browser does not return, so that the
// product learns of the payment by webhook or polling only.
func (s *Shop) BuyWithoutReturn(ctx context.Context, name string) error {
	p, err := s.StartOrder(ctx, name)
	if err != nil {
		return err
	}
	page, err := s.ensurePaymentPage(ctx, p)
	if err != nil {
		return err
	}
	return RetryUntil(ctx, "the card for "+p.ID, func() (bool, error) {
		next, err := s.PayByCard(ctx, page, CardGood)
		return next != "", err
	})
}

// EnsurePaymentPage opens a payment page.
func (s *Shop) EnsurePaymentPage(ctx context.Context, p Purchase) error {
	_, err := s.ensurePaymentPage(ctx, p)
	return err
}

func (s *Shop) ensurePaymentPage(ctx context.Context, p Purchase) (page string, err error) {
	err = RetryUntil(ctx, "the button of "+p.ID, func() (bool, error) {
		var err error
		page, err = s.OpenPaymentPage(ctx, p)
		return page != "", err
	})
	return page, err
}

// GetPage requests a page of the product.
func (s *Shop) GetPage(ctx context.Context, address string) error {
	got, err := s.browse(ctx, http.MethodGet, address, nil)
	if err == nil && got.status >= http.StatusBadRequest {
		err = fmt.Errorf("page: status %d", got.status)
	}
	return err
}

// LeavePaymentPage cancels on the provider's page.
func (s *Shop) LeavePaymentPage(ctx context.Context, p Purchase) error {
	_, err := s.browse(ctx, http.MethodGet, p.PaymentURL+"/back", nil)
	return err
}

// Decline cancels an order, unless it is paid.
func (s *Shop) Decline(ctx context.Context, p Purchase) error {
	return RetryUntil(ctx, "the refusal of "+p.ID, func() (bool, error) {
		o, err := s.storedOrder(ctx, p.ID)
		if err != nil || !o.State.Open() {
			return err == nil, err
		}
		_, err = s.browse(ctx, http.MethodPost, p.PaymentURL+"/decline", nil)
		return false, err
	})
}
