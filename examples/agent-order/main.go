// Command agent-order is an agent that orders a domain for its customer and lets the
// customer pay, as every agent must: it uses only MCP, with a generic client.
//
//	dotkontor sandbox --info sandbox.json            (in one terminal)
//	go run ./examples/agent-order --info sandbox.json (in another one)
//
// It checks whether the name is free and what it costs, makes a dry run, places the
// order, prints payment_url for the human, and waits until every item is active or
// refunded. Sign in at payment_url as the demo customer in the sandbox's welcome text,
// and pay with the card 4242 4242 4242 4242.
//
// Each flag selects another scenario:
//
//	--decline         the human declines the order
//	--identity        the order is so large that it requires an identity check
//	--transfer        a name is transferred from another registrar; the human knows its
//	                  auth code
//	--free-transfer   the same under an extension where it is free: the human only
//	                  confirms. The registry takes five days:
//	                  dotkontor sandbox clock advance 6d
//
// It exits with 0 if the scenario ends as expected. With --mcp and --token instead of
// --info it uses any installation.
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
		fmt.Fprintln(os.Stderr, "agent-order:", err)
		stop()
		os.Exit(1) //nolint:gocritic // nothing is left to undo
	}
}

// scenario is what is ordered and how it should end.
type scenario struct {
	items []item
	// instruction is what the human has to do.
	instruction string
	wantStatus  string
	// needsIdentity means that the order is expected to require an identity check.
	needsIdentity bool
}

type item struct {
	Domain string `json:"domain"`
	Type   string `json:"type"`
}

// settings select the service and the scenario.
type settings struct {
	endpoint, token       string
	timeout, pollInterval time.Duration
	scenario              scenario
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
	agent, err := connect(ctx, s.endpoint, s.token)
	if err != nil {
		return err
	}
	defer agent.close()
	return s.placeOrder(ctx, agent, out)
}

func parseFlags(args []string, stderr io.Writer) (settings, error) {
	flags := flag.NewFlagSet("agent-order", flag.ContinueOnError)
	flags.SetOutput(stderr)
	info := flags.String("info", "", "the `file` that dotkontor sandbox --info wrote")
	endpoint := flags.String("mcp", "", "the `URL` of the MCP endpoint, instead of --info")
	token := flags.String("token", "", "the customer's personal access `token`, instead of --info")
	name := flags.String("name", "", "the `domain` to order; default: one that is free in the sandbox")
	wait := flags.Duration("wait", time.Hour, "how long to wait for the human")
	decline := flags.Bool("decline", false, "the human declines")
	identity := flags.Bool("identity", false, "the order requires an identity check")
	transfer := flags.Bool("transfer", false, "a transfer")
	free := flags.Bool("free-transfer", false, "a transfer that costs nothing")
	if err := flags.Parse(args); err != nil {
		return settings{}, err
	}
	s := settings{endpoint: *endpoint, token: *token, timeout: *wait, pollInterval: 2 * time.Second}
	if *info != "" {
		if err := s.readInfo(*info); err != nil {
			return settings{}, err
		}
	}
	if s.endpoint == "" || s.token == "" {
		return settings{}, errors.New("set --info FILE, or --mcp URL and --token TOKEN")
	}
	switch {
	case *decline:
		s.scenario = scenario{items: registerItems(*name, ".de"), instruction: "decline the order", wantStatus: "canceled"}
	case *identity:
		// More than 500 EUR within 30 days require an identity check.
		s.scenario = scenario{
			items: append(registerItems(*name, ".gg"), registerItems("", ".gg")...), needsIdentity: true,
			instruction: "pay at payment_url", wantStatus: "completed",
		}
	case *transfer:
		s.scenario = transferScenario(*name, ".de", "enter the auth code and pay")
	case *free:
		s.scenario = transferScenario(*name, ".at", "enter the auth code and confirm (the registry then takes five days: dotkontor sandbox clock advance 6d)")
	default:
		s.scenario = scenario{items: registerItems(*name, ".de"), instruction: "pay", wantStatus: "completed"}
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
		MCP  string `json:"mcp_url"`
		Demo struct {
			Token string `json:"token"`
		} `json:"demo"`
	}
	if err := json.Unmarshal(text, &info); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	s.endpoint, s.token = info.MCP, info.Demo.Token
	return nil
}

// registerItems returns the given name, or an unregistered one.
func registerItems(name, extension string) []item {
	if name == "" {
		name = "beispiel-" + randomLabel() + extension
	}
	return []item{{Domain: name, Type: "register"}}
}

// transferScenario is a transfer. In the sandbox every label that begins with
// transfer- is at another registrar, and its auth code is auth- and the label.
func transferScenario(name, extension, instruction string) scenario {
	if name == "" {
		name = "transfer-" + randomLabel() + extension
	}
	label, _, _ := strings.Cut(name, ".")
	return scenario{
		items:       []item{{Domain: name, Type: "transfer"}},
		instruction: instruction + "; in the sandbox the auth code is auth-" + label, wantStatus: "completed",
	}
}

func randomLabel() string { return strings.ToLower(rand.Text()[:10]) }
