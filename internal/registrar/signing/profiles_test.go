package signing

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// Key lengths around the block size, and text lengths around multiples of it.
func TestHMACSHA256_MatchesCryptoHMAC(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	text := func(length int) string {
		letters := make([]byte, length)
		for i := range letters {
			letters[i] = byte(random.Uint32())
		}
		return string(letters)
	}
	for key := range 200 {
		for _, length := range []int{0, 1, 55, 56, 63, 64, 65, 119, 120, 1000, random.IntN(5000)} {
			secret, head, body := text(key), text(length%40), text(length)
			library := hmac.New(sha256.New, []byte(secret))
			library.Write([]byte(head + "." + body))
			if got := hmacSHA256(secret, head, ".", []byte(body)); !hmac.Equal(got[:], library.Sum(nil)) {
				t.Fatalf("a key of %d bytes and a text of %d: HMAC differs", key, length)
			}
		}
	}
	if hmacSHA256("a", "b", "c", []byte("d")) == hmacSHA256("a", "b", "c", []byte(strings.ToUpper("d"))) {
		t.Error("the body is not part of the HMAC")
	}
}

// The same request in every profile. The values were computed with openssl.
func TestProfile_SignsOnlyItsOwnBytes(t *testing.T) {
	t.Parallel()
	request := Request{Timestamp: timestamp, Method: "POST", Path: "/api/acp/checkout_sessions/ord_1/complete", Body: []byte(body)}
	for profile, want := range map[Profile]string{
		Ours: signature,
		// printf %s "$body" | openssl dgst -sha256 -hmac acp_test_secret -binary | basenc --base64url
		Body:      "ZLbt0ihlDAH_ykzUqPFFeIyNqzq31aIUx1bligiAd_k",
		Canonical: "VwjtT9Eh76DKiW0dfO5QyTJ4s6zTl5svW66QgsLqsbQ",
	} {
		if got := profile.Compute(secret, request); got != want {
			t.Errorf("%s: %s, want %s", profile, got, want)
		}
		for other := range map[Profile]bool{Ours: true, Body: true, Canonical: true} {
			_, err := other.Verify(now, []string{"another", secret}, request, want)
			if (err == nil) != (other == profile) {
				t.Errorf("signed as %s, verified as %s: %v", profile, other, err)
			}
		}
	}
}

func TestCanonical_BindsMethodPathTimeAndBody(t *testing.T) {
	t.Parallel()
	right := Request{Timestamp: timestamp, Method: "POST", Path: "/a", Body: []byte(body)}
	signed := Canonical.Compute(secret, right)
	for what, change := range map[string]func(*Request){
		"method": func(r *Request) { r.Method = "GET" },
		"path":   func(r *Request) { r.Path = "/b" },
		"time":   func(r *Request) { r.Timestamp = "2026-11-15T00:00:00.0Z" },
		"body":   func(r *Request) { r.Body = []byte(body + " ") },
	} {
		other := right
		change(&other)
		if _, err := Canonical.Verify(now, []string{secret}, other, signed); !errors.Is(err, ErrInvalid) {
			t.Errorf("another %s: %v", what, err)
		}
	}
	if _, err := Canonical.Verify(now, []string{secret}, right, signed); err != nil {
		t.Error(err)
	}
}

func TestProfile_EveryProfileChecksTimestamp(t *testing.T) {
	t.Parallel()
	for _, profile := range []Profile{Ours, Body, Canonical} {
		for stamp, want := range map[string]error{"": ErrMissing, "2026-11-15T00:05:01Z": ErrStale, "soon": ErrInvalid} {
			request := Request{Timestamp: stamp, Body: []byte(body)}
			if _, err := profile.Verify(now, []string{secret}, request, profile.Compute(secret, request)); !errors.Is(err, want) {
				t.Errorf("%s, %q: %v, want %v", profile, stamp, err, want)
			}
		}
	}
	if Profile("sha1").Known() || Profile("").Known() || !Canonical.Known() {
		t.Error("Known does not match the existing profiles")
	}
}
