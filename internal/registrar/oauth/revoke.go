package oauth

import (
	"context"
	"net/netip"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// RevokeToken ends the grant of a token, whether access or refresh token (RFC 7009). An
// unknown token, or one of another application, changes nothing. ended is for limits on
// failures and not for the application.
func (a *AuthorizationServer) RevokeToken(ctx context.Context, credentials ClientCredentials, token string, address netip.Addr) (ended bool, err error) {
	client, err := a.authenticate(ctx, credentials)
	if err != nil {
		return false, err
	}
	grant, owner, customer, err := a.findGrant(ctx, token)
	if err != nil || grant == "" || owner != client.ID {
		return false, err
	}
	return a.cfg.Store.EndGrant(ctx, grant, registrar.AuditEvent{
		Actor:  registrar.Actor{Kind: registrar.ActorApplication, Customer: customer, Through: grant, Address: address},
		Action: AppEnded, Customer: customer, At: a.cfg.Now(),
	})
}

// findGrant returns the grant of a token; empty if there is none.
func (a *AuthorizationServer) findGrant(ctx context.Context, token string) (grant, client, customer string, err error) {
	if hash, ok := registrar.HashSecret(registrar.AccessToken, token); ok {
		found, _, err := a.cfg.Store.GetAccessToken(ctx, hash)
		return found.GrantID, found.ClientID, found.Customer, err
	}
	if hash, ok := registrar.HashSecret(registrar.RefreshToken, token); ok {
		found, _, err := a.cfg.Store.GetRefreshToken(ctx, hash)
		return found.GrantID, found.ClientID, found.Customer, err
	}
	return "", "", "", nil
}
