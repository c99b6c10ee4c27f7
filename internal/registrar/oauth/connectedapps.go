package oauth

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// ConnectedApp is an application that a customer has connected, with one or more grants.
type ConnectedApp struct {
	ID string // the id of one of its grants; it suffices to disconnect the application
	// Name is the application's own name and may be empty; Hosts are its redirect
	// hosts; Label is its name in the audit log.
	Name, Label string
	Hosts       []string
	GrantIDs    []string // the ids of all its grants
	MayWrite    bool
	// LastUsedAt is the time of its last call, or of the grant.
	ConnectedAt, LastUsedAt, ExpiresAt time.Time
}

// ListConnectedApps returns the actor's connected applications, most recently used first.
func (a *AuthorizationServer) ListConnectedApps(ctx context.Context, actor registrar.Actor) ([]ConnectedApp, error) {
	if err := actor.RequirePerson(); err != nil {
		return nil, err
	}
	grants, err := a.cfg.Store.ListLiveGrants(ctx, actor.Customer, a.cfg.Now())
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

// addGrant adds a further grant of the same application.
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

// AppLabel is an application in the audit log: its name and the host, which alone is verified.
func AppLabel(name, redirectURI string) string {
	host, _ := RedirectHost(redirectURI)
	if name == "" {
		return host
	}
	return name + " (" + host + ")"
}

// appName returns the label of a grant's application.
func (a *AuthorizationServer) appName(ctx context.Context, actor registrar.Actor) (string, error) {
	grants, err := a.cfg.Store.ListLiveGrants(ctx, actor.Customer, a.cfg.Now())
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(grants, func(grant LiveGrant) bool { return grant.GrantID == actor.Through })
	if i < 0 {
		return "", nil
	}
	return AppLabel(grants[i].ClientName, grants[i].RedirectURI), nil
}

// Disconnect ends all grants and unredeemed codes of an application.
func (a *AuthorizationServer) Disconnect(ctx context.Context, actor registrar.Actor, id string) error {
	if err := actor.RequirePerson(); err != nil {
		return err
	}
	if !validID(id) {
		return registrar.NotFound(NoSuchApp)
	}
	found, err := a.cfg.Store.DisconnectClient(ctx, actor.Customer, id, registrar.AuditEvent{
		Actor: actor, Action: AppDisconnected, Customer: actor.Customer, At: a.cfg.Now(),
	})
	if !found {
		err = cmp.Or(err, registrar.NotFound(NoSuchApp))
	}
	return err
}
