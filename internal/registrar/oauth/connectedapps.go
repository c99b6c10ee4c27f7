package oauth

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// ConnectedApp is an application that a customer has connected, maybe several times.
type ConnectedApp struct {
	// ID is that of one of its connections; it is enough to disconnect it.
	ID string
	// Name is what it calls itself, and may be empty; Hosts is where it was
	// reached, and Label is what the audit calls it.
	Name, Label string
	Hosts       []string
	// GrantIDs are the ids of all its connections.
	GrantIDs []string
	MayWrite bool
	// LastUsedAt is the time of its last call, or of its connection.
	ConnectedAt, LastUsedAt, ExpiresAt time.Time
}

// ListConnectedApps returns what the actor has connected, the latest used first.
func (a *AuthorizationServer) ListConnectedApps(ctx context.Context, actor registrar.Actor) ([]ConnectedApp, error) {
	if err := actor.RequirePerson(); err != nil {
		return nil, err
	}
	grants, err := a.store.ListLiveGrants(ctx, actor.Customer, a.now())
	if err != nil {
		return nil, err
	}
	var apps []ConnectedApp
	client := ""
	for _, grant := range grants {
		if len(apps) == 0 || grant.ClientID != client {
			client = grant.ClientID
			apps = append(apps, ConnectedApp{ID: grant.GrantID, ConnectedAt: grant.CreatedAt})
		}
		apps[len(apps)-1].addGrant(grant)
	}
	slices.SortStableFunc(apps, func(x, y ConnectedApp) int { return y.LastUsedAt.Compare(x.LastUsedAt) })
	return apps, nil
}

// addGrant takes one more connection of the same application in.
func (app *ConnectedApp) addGrant(grant LiveGrant) {
	app.Name, app.Label = grant.ClientName, AppLabel(grant.ClientName, grant.RedirectURI)
	app.GrantIDs = append(app.GrantIDs, grant.GrantID)
	if host, _ := RedirectHost(grant.RedirectURI); !slices.Contains(app.Hosts, host) {
		app.Hosts = append(app.Hosts, host)
	}
	app.MayWrite = app.MayWrite || hasScope(grant.Scope, ScopeWrite)
	if grant.LastUsedAt.After(app.LastUsedAt) {
		app.LastUsedAt = grant.LastUsedAt
	}
	if grant.ExpiresAt.After(app.ExpiresAt) {
		app.ExpiresAt = grant.ExpiresAt
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

// appName is what the audit calls the application of a connection.
func (a *AuthorizationServer) appName(ctx context.Context, actor registrar.Actor) (string, error) {
	grants, err := a.store.ListLiveGrants(ctx, actor.Customer, a.now())
	if err != nil {
		return "", err
	}
	for _, grant := range grants {
		if grant.GrantID == actor.Through {
			return AppLabel(grant.ClientName, grant.RedirectURI), nil
		}
	}
	return "", nil
}

// Disconnect ends all tokens of an application at once, and what it has not
// redeemed yet.
func (a *AuthorizationServer) Disconnect(ctx context.Context, actor registrar.Actor, id string) error {
	if err := actor.RequirePerson(); err != nil {
		return err
	}
	if !validID(id) {
		return &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchApp}
	}
	found, err := a.store.DisconnectClient(ctx, actor.Customer, id, registrar.AuditEvent{
		Actor: actor, Action: AppDisconnected, Customer: actor.Customer, At: a.now(),
	})
	if err == nil && !found {
		return &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchApp}
	}
	return err
}
