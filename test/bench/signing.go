package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

const (
	// wantedSigningRatio is the minimum ratio of a signature verification's rate to
	// that of a bare HMAC.
	wantedSigningRatio = 0.8
	callsPerTurn       = 64
	// A side of a round may be short, because it uses only the processor.
	maxSigningRound = 200 * time.Millisecond
)

// signedBodies are requests of agents: a minimal completion, and one with buyer,
// address and payment data.
func signedBodies() map[string][]byte {
	small := `{"payment_data":{"token":"spt_123","provider":"stripe"}}`
	large := `{"buyer":{"first_name":"Marlene","last_name":"Petersen","email":"marlene@example.org","phone_number":"+49 40 5550123"},` +
		`"payment_data":{"token":"spt_123","provider":"stripe","billing_address":{"name":"Marlene Petersen","line_one":"Große Elbstraße 12",` +
		`"line_two":"` + strings.Repeat("x", 600) + `","city":"Hamburg","state":"HH","country":"DE","postal_code":"22767"}}}`
	return map[string][]byte{"small": []byte(small), "large": []byte(large)}
}

// benchSigning compares the verification of a signature, from the headers to the
// decision, with an HMAC of the same bytes. Both run in this process on one core, in
// alternating rounds.
func benchSigning(ctx context.Context, b bench) ([]measurement, error) {
	b.progress("measuring signatures")
	bodies := signedBodies()
	var lines []measurement
	for _, size := range []string{"small", "large"} {
		body := bodies[size]
		verify, bare, err := signingSides(body)
		if err != nil {
			return nil, err
		}
		var ratios, rates []float64
		for range b.rounds {
			ours, theirs, err := alternate(ctx, min(b.duration, maxSigningRound), verify, bare)
			if err != nil {
				return nil, err
			}
			ratios, rates = append(ratios, ours/theirs), append(rates, ours)
		}
		lines = append(lines, newMeasurement(fmt.Sprintf("signing, verification of a %s body / bare HMAC", size), median(ratios), ratio,
			atLeast(wantedSigningRatio), fmt.Sprintf("%d bytes; %s verifications/s on one core", len(body), grouped(fmt.Sprintf("%.0f", median(rates))))))
	}
	return lines, nil
}

// signingSides returns the two compared functions. Both must return the right result.
func signingSides(body []byte) (verify, bare func() error, err error) {
	const secret = "acp_test_secret" // the published one
	now := time.Now().UTC()
	stamp := now.Format(time.RFC3339)
	signature := signing.Compute(secret, stamp, body)
	secrets := []string{secret}
	right, err := signing.Ours.Verify(now, secrets, signing.Request{Timestamp: stamp, Body: body}, signature)
	if err != nil {
		return nil, nil, err
	}
	verify = func() error {
		_, err := signing.Ours.Verify(now, secrets, signing.Request{Timestamp: stamp, Body: body}, signature)
		return err
	}
	key := []byte(secret)
	signed := append([]byte(stamp+"."), body...)
	bare = func() error {
		mac := hmac.New(sha256.New, key)
		mac.Write(signed)
		var sum [sha256.Size]byte
		if !hmac.Equal(mac.Sum(sum[:0]), right[:]) {
			return errors.New("the bare HMAC differs")
		}
		return nil
	}
	return verify, bare, nil
}

// alternate returns the rate of each function on one core. They alternate after a few
// calls, so that a longer disturbance affects both.
func alternate(ctx context.Context, duration time.Duration, one, other func() error) (ones, others float64, err error) {
	var spent [2]time.Duration
	done := 0
	for spent[0] < duration && ctx.Err() == nil {
		for i, do := range []func() error{one, other} {
			began := time.Now()
			for range callsPerTurn {
				if err := do(); err != nil {
					return 0, 0, err
				}
			}
			spent[i] += time.Since(began)
		}
		done += callsPerTurn
	}
	return float64(done) / spent[0].Seconds(), float64(done) / spent[1].Seconds(), ctx.Err()
}
