package portal

import (
	"encoding/json"

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

// passkeyOptions are passed to the authenticator.
type passkeyOptions struct {
	ChallengeID string          `json:"ceremony"`
	Options     json.RawMessage `json:"options"`
}

// passkeyResponse is the authenticator's response.
type passkeyResponse struct {
	ChallengeID string          `json:"ceremony"`
	Response    json.RawMessage `json:"response"`
	Name        string          `json:"name"`
	Next        string          `json:"next"`
}

// redirectBody tells the script where to navigate.
type redirectBody struct {
	Go string `json:"go"`
}

func readPasskeyResponse(body []byte) (passkeyResponse, error) {
	var a passkeyResponse
	if err := json.Unmarshal(body, &a); err != nil || a.ChallengeID == "" || len(a.Response) == 0 {
		return passkeyResponse{}, invalidForm()
	}
	return a, nil
}

// withMessage adds the text of an error, if there is one.
func (h *Handler) withMessage(req *ui.Request, err error) error {
	if message, ok := h.problem(req, err); ok {
		return &ui.MessageError{Message: message, Err: err}
	}
	return err
}

func (h *Handler) beginPasskeySignIn(req *ui.Request, _ []byte) (any, error) {
	challengeID, options, err := h.accounts.BeginPasskeySignIn(req.R.Context(), req.Actor(), req.Origin())
	if err != nil {
		return nil, h.withMessage(req, err)
	}
	return passkeyOptions{challengeID, options}, nil
}

func (h *Handler) finishPasskeySignIn(req *ui.Request, body []byte) (any, error) {
	a, err := readPasskeyResponse(body)
	if err != nil {
		return nil, err
	}
	signedIn, err := h.accounts.FinishPasskeySignIn(req.R.Context(), req.Actor(), req.Origin(), a.ChallengeID, a.Response, req.BrowserName())
	if err != nil {
		return nil, h.withMessage(req, err)
	}
	if err := h.startSession(req, signedIn); err != nil {
		return nil, err
	}
	return redirectBody{orProfile(nextPath(req, a.Next))}, nil
}

func (h *Handler) finishPasskeyAgain(req *ui.Request, body []byte) (any, error) {
	a, err := readPasskeyResponse(body)
	if err != nil {
		return nil, err
	}
	signedIn, err := h.accounts.FinishPasskeySignInAgain(
		req.R.Context(), req.Actor(), req.Origin(), req.SessionSecret(), a.ChallengeID, a.Response)
	if err != nil {
		return nil, h.withMessage(req, err)
	}
	req.SetDevice(signedIn.Device)
	req.SetSession(signedIn.Secret)
	return redirectBody{orProfile(nextPath(req, a.Next))}, nil
}

func (h *Handler) beginAddPasskey(req *ui.Request, _ []byte) (any, error) {
	challengeID, options, err := h.accounts.BeginAddPasskey(req.R.Context(), req.Actor(), req.Origin())
	if err != nil {
		return nil, h.withMessage(req, err)
	}
	return passkeyOptions{challengeID, options}, nil
}

func (h *Handler) finishAddPasskey(req *ui.Request, body []byte) (any, error) {
	a, err := readPasskeyResponse(body)
	if err != nil {
		return nil, err
	}
	if err := h.accounts.FinishAddPasskey(req.R.Context(), req.Actor(), req.Origin(), a.ChallengeID, a.Name, a.Response); err != nil {
		return nil, h.withMessage(req, err)
	}
	req.Flash("passkey_added")
	return redirectBody{securityPath}, nil
}

func (h *Handler) removePasskey(req *ui.Request) error {
	err := h.accounts.RemovePasskey(req.R.Context(), req.Actor(), req.R.PathValue("id"))
	if err != nil {
		return h.securityProblem(req, err)
	}
	req.Flash("passkey_removed")
	return req.SeeOther(securityPath)
}
