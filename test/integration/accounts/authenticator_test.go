package accounts

import (
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/test/testkit/passkey"
)

// addPasskey registers the device with an account.
func (e *env) addPasskey(in account.SignInResult, device *passkey.Device) {
	e.Helper()
	challenge, options, err := e.BeginAddPasskey(e.Context(), actorOf(in), origin)
	e.must(err)
	e.must(e.FinishAddPasskey(e.Context(), actorOf(in), origin, challenge, "Laptop", device.Create(options)))
}

// passkeySignIn signs in with the device.
func (e *env) passkeySignIn(device *passkey.Device) (account.SignInResult, error) {
	e.Helper()
	challenge, options, err := e.BeginPasskeySignIn(e.Context(), home, origin)
	e.must(err)
	return e.FinishPasskeySignIn(e.Context(), home, origin, challenge, device.Get(options), userAgent)
}
