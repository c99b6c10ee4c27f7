package smtp

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
	"golang.org/x/net/netutil"
)

const (
	maxMails      = 500
	maxMailBytes  = 1 << 20
	maxRecipients = 50
	maxConns      = 64 // concurrent connections per server
	ioTimeout     = 30 * time.Second
	closeTimeout  = 2 * time.Second
)

// Options configures the server. The zero value works.
type Options struct {
	// Listen and ListenHTTP are loopback addresses with ports for SMTP and the
	// page; empty means 127.0.0.1:0.
	Listen, ListenHTTP string
	// Chaos is the share 0..1 of mails with a temporary failure.
	Chaos float64
	// Seed is the seed of the chaos; 0 means random.
	Seed uint64
	// Now is the clock; nil means time.Now.
	Now    func() time.Time
	Logger *slog.Logger
}

// Mail is a received mail.
type Mail struct {
	ID         uint64    `json:"id"`
	ReceivedAt time.Time `json:"received_at"`
	From       string    `json:"from"`
	// To are the envelope recipients.
	To       []string `json:"to"`
	ReplyTo  string   `json:"reply_to,omitempty"` // the header's address
	Subject  string   `json:"subject"`
	Language string   `json:"language,omitempty"`
	Text     string   `json:"text"`
	// Links are the URLs in the text, in order.
	Links []string `json:"links"`
}

// Server is a running mail server.
type Server struct {
	opts Options
	smtp *smtp.Server
	web  *http.Server
	// address and pageURL are where both servers are reached.
	address, pageURL string
	running          sync.WaitGroup

	mu     sync.Mutex
	mails  []Mail // oldest first
	lastID uint64
	rng    *rand.Rand
}

// Start starts both servers. When it returns, they accept connections.
func Start(opts Options) (*Server, error) {
	if !(opts.Chaos >= 0 && opts.Chaos <= 1) { // written so that NaN fails too
		return nil, fmt.Errorf("sandbox smtp: chaos %v is not between 0 and 1", opts.Chaos)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Seed == 0 {
		opts.Seed = rand.Uint64()
	}
	mails, err := listen(opts.Listen)
	if err != nil {
		return nil, fmt.Errorf("sandbox smtp: %w", err)
	}
	pages, err := listen(opts.ListenHTTP)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sandbox smtp: %w", err), mails.Close())
	}
	b := &Server{
		opts: opts, address: mails.Addr().String(), pageURL: "http://" + pages.Addr().String() + "/",
		rng: rand.New(rand.NewPCG(opts.Seed, 0)),
	}
	silent := log.New(discard{}, "", 0) // the library's log may quote mails
	b.smtp = smtp.NewServer(b)
	b.smtp.Domain = "inbox.sandbox.example"
	b.smtp.MaxMessageBytes = maxMailBytes
	b.smtp.MaxRecipients = maxRecipients
	b.smtp.ReadTimeout, b.smtp.WriteTimeout = ioTimeout, ioTimeout
	b.smtp.EnableSMTPUTF8 = true
	b.smtp.ErrorLog = silent
	b.web = &http.Server{
		Handler: b.handler(), ErrorLog: silent,
		ReadTimeout: ioTimeout, WriteTimeout: ioTimeout, IdleTimeout: ioTimeout, MaxHeaderBytes: 16 << 10,
	}
	b.running.Go(func() { _ = b.smtp.Serve(mails) })
	b.running.Go(func() { _ = b.web.Serve(pages) })
	return b, nil
}

func listen(address string) (net.Listener, error) {
	if address == "" {
		address = "127.0.0.1:0"
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil || !loopbackHost(host) {
		return nil, fmt.Errorf("%q is not a loopback address and port: mails stay on this machine", address)
	}
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	return netutil.LimitListener(listener, maxConns), nil
}

type discard struct{}

func (discard) Write(text []byte) (int, error) { return len(text), nil }

// Address is host:port of the mail server.
func (b *Server) Address() string { return b.address }

// PageURL is the URL of the web page.
func (b *Server) PageURL() string { return b.pageURL }

// Mails returns the mails to a recipient, or all if it is empty, newest first.
func (b *Server) Mails(to string) []Mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := []Mail{}
	for _, mail := range slices.Backward(b.mails) {
		if to == "" || slices.ContainsFunc(mail.To, func(one string) bool { return strings.EqualFold(one, to) }) {
			found = append(found, mail)
		}
	}
	return found
}

// Clear deletes all mails.
func (b *Server) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mails = nil
}

// store adds a mail and drops the oldest beyond the limit.
func (b *Server) store(mail Mail) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lastID++
	mail.ID = b.lastID
	b.mails = append(b.mails, mail)
	if over := len(b.mails) - maxMails; over > 0 {
		b.mails = slices.Delete(b.mails, 0, over)
	}
}

// Close stops both servers and waits for them.
func (b *Server) Close() error {
	err := errors.Join(b.smtp.Close(), b.web.Close())
	done := make(chan struct{})
	go func() {
		b.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return err
	case <-time.After(closeTimeout):
		return errors.Join(err, fmt.Errorf("sandbox smtp: still running %v after close", closeTimeout))
	}
}
