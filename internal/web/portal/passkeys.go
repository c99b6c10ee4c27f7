package portal

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Endpoints of the script. Signing in again begins like every sign-in.
const (
	beginSignIn  = "/portal/passkeys/sign-in/begin"
	finishSignIn = "/portal/passkeys/sign-in/finish"
	finishAgain  = "/portal/passkeys/sign-in-again/finish"
	beginAdd     = "/portal/passkeys/add/begin"
	finishAdd    = "/portal/passkeys/add/finish"
)

// scriptFunc is an endpoint of our script.
type scriptFunc = func(req *ui.Request, body []byte) (any, error)

func (h *Handler) beginPasskey(begin func(ctx context.Context, actor registrar.Actor, origin string) (string, []byte, error)) scriptFunc {
	return func(req *ui.Request, _ []byte) (any, error) {
		challengeID, options, err := begin(req.R.Context(), req.Actor(), req.Origin())
		if err != nil {
			return nil, h.withMessage(req, err)
		}
		return map[string]any{"ceremony": challengeID, "options": json.RawMessage(options)}, nil
	}
}

// passkeyResponse is the authenticator's response.
type passkeyResponse struct {
	ChallengeID string          `json:"ceremony"`
	Response    json.RawMessage `json:"response"`
	Name        string          `json:"name"`
	Next        string          `json:"next"`
}

// finishPasskey checks the authenticator's response and makes the script navigate to
// the page that finish returns.
func (h *Handler) finishPasskey(finish func(req *ui.Request, a passkeyResponse) (page string, err error)) scriptFunc {
	return func(req *ui.Request, body []byte) (any, error) {
		var a passkeyResponse
		if err := json.Unmarshal(body, &a); err != nil || a.ChallengeID == "" || len(a.Response) == 0 {
			return nil, invalidForm()
		}
		page, err := finish(req, a)
		if err != nil {
			return nil, h.withMessage(req, err)
		}
		return map[string]string{"go": page}, nil
	}
}

// withMessage adds the text of an error, if there is one.
func (h *Handler) withMessage(req *ui.Request, err error) error {
	if message, ok := h.problem(req, err); ok {
		return &ui.MessageError{Message: message, Err: err}
	}
	return err
}

func (h *Handler) passkeySignIn(req *ui.Request, a passkeyResponse) (string, error) {
	signedIn, err := h.Accounts.FinishPasskeySignIn(req.R.Context(), req.Actor(), req.Origin(), a.ChallengeID, a.Response, req.BrowserName())
	if err == nil {
		err = h.startSession(req, signedIn)
	}
	if err != nil {
		return "", err
	}
	return h.pageAfterSignIn(req, signedIn, nextPath(req, a.Next)), nil
}

func (h *Handler) passkeySignInAgain(req *ui.Request, a passkeyResponse) (string, error) {
	signedIn, err := h.Accounts.FinishPasskeySignInAgain(
		req.R.Context(), req.Actor(), req.Origin(), req.SessionSecret(), a.ChallengeID, a.Response)
	if err != nil {
		return "", err
	}
	req.SetDevice(signedIn.Device)
	req.SetSession(signedIn.Secret)
	return cmp.Or(nextPath(req, a.Next), ui.HomePath), nil
}

func (h *Handler) addPasskey(req *ui.Request, a passkeyResponse) (string, error) {
	if err := h.Accounts.FinishAddPasskey(req.R.Context(), req.Actor(), req.Origin(), a.ChallengeID, a.Name, a.Response); err != nil {
		return "", err
	}
	req.Flash("passkey_added")
	return securityPath, nil
}

func (h *Handler) removePasskey(req *ui.Request) error {
	if err := h.Accounts.RemovePasskey(req.R.Context(), req.Actor(), req.R.PathValue("id")); err != nil {
		return h.securityProblem(req, err)
	}
	return req.RedirectWithFlash("passkey_removed", securityPath)
}
