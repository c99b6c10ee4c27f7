package registrar

import "crypto/rand"

// NewAuthCode returns a random auth code for a domain. Registries require upper and
// lower case, a digit and a special character.
func NewAuthCode(length int) string {
	const upper, lower, digits, signs = "ABCDEFGHJKLMNPQRSTUVWXYZ", "abcdefghijkmnpqrstuvwxyz", "23456789", "-+.=_"
	raw := make([]byte, length)
	_, _ = rand.Read(raw) // never fails
	kinds := []string{upper, lower, digits, signs}
	for i, b := range raw {
		from := upper + lower + digits
		if i < len(kinds) {
			from = kinds[i]
		}
		raw[i] = from[int(b)%len(from)]
	}
	return string(raw)
}
