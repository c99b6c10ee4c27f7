package registrar

import "crypto/rand"

// NewAuthCode makes an auth code of a domain. Registries want letters of both
// cases, a digit and something else; the rest is random.
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
