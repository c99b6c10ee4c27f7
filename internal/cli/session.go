package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

// ServiceFlags select a service. Commands work on its database, whether it runs or not.
type ServiceFlags struct {
	Config string `help:"Configuration file of the service. Default: $$DOTKONTOR_CONFIG, else .dotkontor/sandbox/serve.toml in the current folder."`
}

func (p ServiceFlags) Load(t *Terminal) (config.Config, error) {
	path := p.Config
	if path == "" { // a flag takes precedence over the environment
		path = t.Getenv("DOTKONTOR_CONFIG")
	}
	if path == "" {
		path = filepath.Join(SandboxData, SandboxConfigFile)
		if _, err := os.Stat(path); err != nil {
			return config.Config{}, errors.New("select a service with --config FILE; there is no sandbox in this folder")
		}
	}
	return config.Load(path, t.Env)
}

// WithSession opens the service's database and calls work as an operator.
func (p ServiceFlags) WithSession(t *Terminal, work func(Session) error) error {
	cfg, err := p.Load(t)
	if err != nil {
		return err
	}
	services, err := app.OpenServices(t.Ctx, cfg, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		return err
	}
	err = work(Session{Terminal: t, Services: services, Config: cfg, Operator: registrar.Actor{Kind: registrar.ActorOperator, Through: SystemUser()}})
	return errors.Join(ExplainError(err), services.Close())
}

// Session is a command with access to a service.
type Session struct {
	*Terminal
	Services *app.Services
	Config   config.Config
	Operator registrar.Actor
}

// SystemUser returns the operating system user, for audit events.
func SystemUser() string {
	if one, err := user.Current(); err == nil && one.Username != "" {
		return one.Username
	}
	return "uid " + strconv.Itoa(os.Getuid())
}

// FindCustomer returns the account with an email address.
func (d Session) FindCustomer(email string) (account.Customer, error) {
	return d.Services.Customers.FindByEmail(d.Ctx, d.Operator, email)
}

// Println prints one line to standard output.
func (d Session) Println(format string, args ...any) error {
	_, err := fmt.Fprintf(d.Out, format+"\n", args...)
	return err
}
