package signing

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The test vector published in the documentation.
const (
	secret    = "acp_test_secret"
	timestamp = "2026-11-15T00:00:00Z"
	body      = `{"payment_data":{"token":"spt_123","provider":"stripe"}}`
	signature = "HqZMqZcKcGOmY_QgWoj85aIC7mfF38wLxV14Gs6ZOC8"
)

var now = time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)

func TestCompute_PublishedVector(t *testing.T) {
	t.Parallel()
	if got := Compute(secret, timestamp, []byte(body)); got != signature {
		t.Errorf("Compute is %s, want %s", got, signature)
	}
	if _, err := verify(now, []string{secret}, timestamp, signature, []byte(body)); err != nil {
		t.Error(err)
	}
}

func TestVerify_AcceptsEveryEncoding(t *testing.T) {
	t.Parallel()
	raw, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"base64url":         signature,
		"base64url, padded": base64.URLEncoding.EncodeToString(raw),
		"base64":            base64.RawStdEncoding.EncodeToString(raw),
		"base64, padded":    base64.StdEncoding.EncodeToString(raw),
		"hex":               hex.EncodeToString(raw),
		"hex, upper case":   strings.ToUpper(hex.EncodeToString(raw)),
	} {
		if _, err := verify(now, []string{secret}, timestamp, text, []byte(body)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVerify_TimestampFormatsAndTolerance(t *testing.T) {
	t.Parallel()
	unix := func(d time.Duration) string { return strconv.FormatInt(now.Add(d).Unix(), 10) }
	for text, want := range map[string]error{
		"2026-11-15T00:00:00.123456789Z": nil,
		"2026-11-15T01:00:00+01:00":      nil,
		"2026-11-15T00:05:00Z":           nil,
		"2026-11-14T23:55:00Z":           nil,
		unix(0):                          nil,
		unix(Tolerance):                  nil,
		unix(-Tolerance):                 nil,
		"2026-11-15T00:05:00.001Z":       ErrStale,
		"2026-11-14T23:54:59.999Z":       ErrStale,
		"0001-01-01T00:00:00Z":           ErrStale,
		"9999-12-31T23:59:59Z":           ErrStale,
		"0":                              ErrStale,
		unix(-Tolerance - time.Second):   ErrStale,
		unix(Tolerance + time.Second):    ErrStale,
		"1099511627775":                  ErrStale,
		"99999999999999999999":           ErrInvalid,
		"-1":                             ErrInvalid,
		"+1":                             ErrInvalid,
		"1794700800.5":                   ErrInvalid,
		"2026-11-15":                     ErrInvalid,
		"2026-11-15 00:00:00":            ErrInvalid,
		"now":                            ErrInvalid,
		" ":                              ErrInvalid,
	} {
		_, err := verify(now, []string{secret}, text, Compute(secret, text, []byte(body)), []byte(body))
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

func TestVerify_RejectsWrongSecretBodyOrTime(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                       string
		secrets                    []string
		timestamp, signature, body string
		want                       error
	}{
		{"the second of two secrets", []string{"other", secret}, timestamp, signature, body, nil},
		{"no timestamp", []string{secret}, "", signature, body, ErrMissing},
		{"no signature", []string{secret}, timestamp, "", body, ErrMissing},
		{"nobody can sign", nil, timestamp, signature, body, ErrInvalid},
		{"another secret", []string{"other"}, timestamp, signature, body, ErrInvalid},
		{"another body", []string{secret}, timestamp, signature, body + " ", ErrInvalid},
		{"another spelling of the time", []string{secret}, "2026-11-15T00:00:00.0Z", signature, body, ErrInvalid},
		{"the full stop moved", []string{secret}, timestamp, Compute(secret, timestamp+".", []byte(body[1:])), body, ErrInvalid},
		{"an empty secret", []string{""}, timestamp, Compute("", timestamp, []byte(body)), body, ErrInvalid},
		{"cut", []string{secret}, timestamp, signature[:42], body, ErrInvalid},
		{"too long", []string{secret}, timestamp, signature + "A", body, ErrInvalid},
		{"padded twice", []string{secret}, timestamp, signature + "==", body, ErrInvalid},
		{"loose last bits", []string{secret}, timestamp, signature[:42] + "9", body, ErrInvalid},
		{"a line break inside", []string{secret}, timestamp, signature[:41] + "\n" + signature[42:], body, ErrInvalid},
		{"no hex", []string{secret}, timestamp, strings.Repeat("x", 64), body, ErrInvalid},
	} {
		_, err := verify(now, test.secrets, test.timestamp, test.signature, []byte(test.body))
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

func TestErrors_AreDistinct(t *testing.T) {
	t.Parallel()
	all := []error{ErrMissing, ErrInvalid, ErrStale}
	for i, a := range all {
		for j, b := range all {
			if errors.Is(a, b) != (i == j) {
				t.Errorf("%v is %v: %v", a, b, errors.Is(a, b))
			}
		}
	}
}

// One signature has many encodings; Verify returns the same value for all.
func TestVerify_ReturnsSameMACForEveryEncoding(t *testing.T) {
	now := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	body := []byte(body)
	sum := Ours.sum(secret, Request{Timestamp: timestamp, Body: body})
	raw := sum[:]
	var first [32]byte
	for i, encoded := range []string{
		Compute(secret, timestamp, body), base64.StdEncoding.EncodeToString(raw), base64.URLEncoding.EncodeToString(raw),
		hex.EncodeToString(raw), strings.ToUpper(hex.EncodeToString(raw)),
	} {
		mac, err := verify(now, []string{secret}, timestamp, encoded, body)
		if err != nil {
			t.Fatalf("%s: %v", encoded, err)
		}
		if i == 0 {
			first = mac
		}
		if mac != first || string(mac[:]) != string(raw) {
			t.Errorf("%s gives %x, want %x", encoded, mac, raw)
		}
	}
}

func verify(now time.Time, secrets []string, timestamp, signature string, body []byte) ([32]byte, error) {
	return Ours.Verify(now, secrets, Request{Timestamp: timestamp, Body: body}, signature)
}
