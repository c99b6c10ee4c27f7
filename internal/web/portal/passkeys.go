package portal

import (
	"encoding/json"

	"github.com/dotkontor/dotkontor/internal/web/page"
)

// Where the script asks. A ceremony of signing in again begins as every sign-in
// does.
const (
	beginSignIn  = "/portal/passkeys/sign-in/begin"
	finishSignIn = "/portal/passkeys/sign-in/finish"
	finishAgain  = "/portal/passkeys/sign-in-again/finish"
	beginAdd     = "/portal/passkeys/add/begin"
	finishAdd    = "/portal/passkeys/add/finish"
)

// begun is what the script hands to the authenticator.
type begun struct {
	Ceremony string          `json:"ceremony"`
	Options  json.RawMessage `json:"options"`
}

// answered is what the script brings back.
type answered struct {
	Ceremony string          `json:"ceremony"`
	Response json.RawMessage `json:"response"`
	Name     string          `json:"name"`
	Next     string          `json:"next"`
}

// done tells the script where to go.
type done struct {
	Go string `json:"go"`
}

func readAnswer(body []byte) (answered, error) {
	var a answered
	if err := json.Unmarshal(body, &a); err != nil || a.Ceremony == "" || len(a.Response) == 0 {
		return answered{}, invalidForm()
	}
	return a, nil
}

// tell gives an error its own sentence, if there is one.
func (h *Handler) tell(v *page.Visit, err error) error {
	if sentence, ok := h.problem(v, err); ok {
		return &page.Told{Sentence: sentence, Err: err}
	}
	return err
}

func (h *Handler) beginPasskeySignIn(v *page.Visit, _ []byte) (any, error) {
	ceremony, options, err := h.customers.BeginPasskeySignIn(v.R.Context(), v.Actor(), v.Origin())
	if err != nil {
		return nil, h.tell(v, err)
	}
	return begun{ceremony, options}, nil
}

func (h *Handler) finishPasskeySignIn(v *page.Visit, body []byte) (any, error) {
	a, err := readAnswer(body)
	if err != nil {
		return nil, err
	}
	signedIn, err := h.customers.FinishPasskeySignIn(v.R.Context(), v.Actor(), v.Origin(), a.Ceremony, a.Response, v.Agent())
	if err != nil {
		return nil, h.tell(v, err)
	}
	if err := h.handOver(v, signedIn); err != nil {
		return nil, err
	}
	return done{orHome(next(a.Next))}, nil
}

func (h *Handler) finishPasskeyAgain(v *page.Visit, body []byte) (any, error) {
	a, err := readAnswer(body)
	if err != nil {
		return nil, err
	}
	signedIn, err := h.customers.FinishPasskeySignInAgain(
		v.R.Context(), v.Actor(), v.Origin(), v.SessionSecret(), a.Ceremony, a.Response)
	if err != nil {
		return nil, h.tell(v, err)
	}
	v.KeepDevice(signedIn.Device)
	v.KeepSession(signedIn.Secret)
	return done{orHome(next(a.Next))}, nil
}

func (h *Handler) beginAddPasskey(v *page.Visit, _ []byte) (any, error) {
	ceremony, options, err := h.customers.BeginAddPasskey(v.R.Context(), v.Actor(), v.Origin())
	if err != nil {
		return nil, h.tell(v, err)
	}
	return begun{ceremony, options}, nil
}

func (h *Handler) finishAddPasskey(v *page.Visit, body []byte) (any, error) {
	a, err := readAnswer(body)
	if err != nil {
		return nil, err
	}
	if err := h.customers.FinishAddPasskey(v.R.Context(), v.Actor(), v.Origin(), a.Ceremony, a.Name, a.Response); err != nil {
		return nil, h.tell(v, err)
	}
	v.Note("passkey_added")
	return done{securityPath}, nil
}

func (h *Handler) removePasskey(v *page.Visit) error {
	err := h.customers.RemovePasskey(v.R.Context(), v.Actor(), v.R.PathValue("id"))
	if err != nil {
		return h.securityProblem(v, err)
	}
	v.Note("passkey_removed")
	return v.SeeOther(securityPath)
}
