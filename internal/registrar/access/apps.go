package access

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// App is an application that a customer has connected, maybe several times.
type App struct {
	// ID is that of one of its connections; it is enough to disconnect it.
	ID string
	// Name is what it calls itself, and may be empty; Hosts is where it was
	// reached, and Label is what the audit calls it.
	Name, Label string
	Hosts       []string
	// Connections are the ids of all its connections.
	Connections []string
	MayWrite    bool
	// LastUsedAt is the time of its last call, or of its connection.
	ConnectedAt, LastUsedAt, ExpiresAt time.Time
}

// Apps returns what the actor has connected, the latest used first.
func (a *Applications) Apps(ctx context.Context, actor registrar.Actor) ([]App, error) {
	if err := requirePerson(actor); err != nil {
		return nil, err
	}
	connections, err := a.store.Connections(ctx, actor.Customer, a.now())
	if err != nil {
		return nil, err
	}
	var apps []App
	client := ""
	for _, connection := range connections {
		if len(apps) == 0 || connection.ClientID != client {
			client = connection.ClientID
			apps = append(apps, App{ID: connection.GrantID, ConnectedAt: connection.CreatedAt})
		}
		apps[len(apps)-1].add(connection)
	}
	slices.SortStableFunc(apps, func(x, y App) int { return y.LastUsedAt.Compare(x.LastUsedAt) })
	return apps, nil
}

// add takes one more connection of the same application in.
func (app *App) add(connection Connection) {
	app.Name, app.Label = connection.ClientName, AppLabel(connection.ClientName, connection.RedirectURI)
	app.Connections = append(app.Connections, connection.GrantID)
	if host, _ := RedirectHost(connection.RedirectURI); !slices.Contains(app.Hosts, host) {
		app.Hosts = append(app.Hosts, host)
	}
	app.MayWrite = app.MayWrite || contains(connection.Scope, ScopeWrite)
	if connection.LastUsedAt.After(app.LastUsedAt) {
		app.LastUsedAt = connection.LastUsedAt
	}
	if connection.ExpiresAt.After(app.ExpiresAt) {
		app.ExpiresAt = connection.ExpiresAt
	}
}

// AppLabel is how the audit names an application: as it calls itself, and where
// it was answered to, since only that is known.
func AppLabel(name, redirectURI string) string {
	host, _ := RedirectHost(redirectURI)
	if name == "" {
		return host
	}
	return name + " (" + host + ")"
}

// nameOf is what the audit calls the application of a connection.
func (a *Applications) nameOf(ctx context.Context, actor registrar.Actor) (string, error) {
	connections, err := a.store.Connections(ctx, actor.Customer, a.now())
	if err != nil {
		return "", err
	}
	for _, connection := range connections {
		if connection.GrantID == actor.Through {
			return AppLabel(connection.ClientName, connection.RedirectURI), nil
		}
	}
	return "", nil
}

// Disconnect ends all tokens of an application at once, and what it has not
// redeemed yet.
func (a *Applications) Disconnect(ctx context.Context, actor registrar.Actor, id string) error {
	if err := requirePerson(actor); err != nil {
		return err
	}
	if !goodID(id) {
		return &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchApp}
	}
	found, err := a.store.Disconnect(ctx, actor.Customer, id, registrar.Deed{
		Actor: actor, Action: AppDisconnected, Customer: actor.Customer, At: a.now(),
	})
	if err == nil && !found {
		return &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchApp}
	}
	return err
}
