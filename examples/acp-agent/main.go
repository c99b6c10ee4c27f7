// Command acp-agent is an agent that buys a domain for a person without an account: it
// checks out with the Agentic Commerce Protocol (2026-04-17) and pays with the buyer's
// payment token. It uses only HTTP and none of this service's code.
//
//	dotkontor sandbox --info sandbox.json           (in one terminal)
//	go run ./examples/acp-agent --info sandbox.json (in another one)
//
// It creates a session, shows what it costs, completes it with a signed request, and
// polls the session until every domain is active or refunded. The buyer gets a mail
// with a link; whoever opens it and signs in claims the order.
//
// In the sandbox the prefix of a token selects the outcome of the payment:
// --token spt_declined_1 is declined, and the program exits with 1; --token spt_human_1
// makes the bank require the human, who then pays at the printed URL.
//
// With --url, --key and --secret instead of --info it uses any installation that has
// added it (dotkontor agents add), with a real token.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "acp-agent:", err)
		stop()
		os.Exit(1) //nolint:gocritic // nothing is left to undo
	}
}

// settings select the service, our credentials and what to buy.
type settings struct {
	base, key, secret     string
	name, token           string
	email                 string
	timeout, pollInterval time.Duration
}

func run(ctx context.Context, args []string, out, stderr io.Writer) error {
	s, err := parseFlags(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.buy(ctx, newClient(s.base, s.key, s.secret), out)
}

func parseFlags(args []string, stderr io.Writer) (settings, error) {
	s := settings{pollInterval: time.Second}
	flags := flag.NewFlagSet("acp-agent", flag.ContinueOnError)
	flags.SetOutput(stderr)
	info := flags.String("info", "", "the `file` that dotkontor sandbox --info wrote")
	flags.StringVar(&s.base, "url", "", "the `URL` of the service, instead of --info")
	flags.StringVar(&s.key, "key", "", "the agent's bearer `key`, instead of --info")
	flags.StringVar(&s.secret, "secret", "", "the `secret` that signs requests, instead of --info")
	flags.StringVar(&s.name, "name", "", "the `domain` to buy; default: one that is free in the sandbox")
	flags.StringVar(&s.token, "token", "", "the buyer's payment `token`; default: one that pays in the sandbox")
	flags.StringVar(&s.email, "email", "", "the buyer's email `address`; default: an unused one")
	flags.DurationVar(&s.timeout, "wait", 10*time.Minute, "how long to wait for the result")
	if err := flags.Parse(args); err != nil {
		return settings{}, err
	}
	if *info != "" {
		if err := s.readInfo(*info); err != nil {
			return settings{}, err
		}
	}
	if s.base == "" || s.key == "" || s.secret == "" {
		return settings{}, errors.New("set --info FILE, or --url URL, --key KEY and --secret SECRET")
	}
	random := strings.ToLower(rand.Text()[:10])
	for field, fallback := range map[*string]string{
		&s.name: "beispiel-" + random + ".de", &s.token: "spt_ok_" + random, &s.email: "kaeufer-" + random + "@example.org",
	} {
		if *field == "" {
			*field = fallback
		}
	}
	return s, nil
}

// readInfo reads the --info file of the sandbox.
func (s *settings) readInfo(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var info struct {
		Base  string `json:"base_url"`
		Agent struct {
			Key    string `json:"key"`
			Secret string `json:"secret"`
		} `json:"agent"`
	}
	if err := json.Unmarshal(text, &info); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	s.base, s.key, s.secret = info.Base, info.Agent.Key, info.Agent.Secret
	return nil
}
