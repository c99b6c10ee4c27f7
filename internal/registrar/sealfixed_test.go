package registrar

import (
	"errors"
	"strings"
	"testing"
)

func TestSealFixed_SameTextSameValueOtherTextUnrelated(t *testing.T) {
	seal, err := NewSeal(SealKey{1})
	if err != nil {
		t.Fatal(err)
	}
	first, again, other := seal.SealFixed("p", "dom_1"), seal.SealFixed("p", "dom_1"), seal.SealFixed("p", "dom_2")
	if first != again {
		t.Errorf("one text has two values: %s and %s", first, again)
	}
	if first == other || first[:8] == other[:8] || strings.Contains(first, "dom_1") {
		t.Errorf("values are related: %s and %s", first, other)
	}
	if purpose := seal.SealFixed("q", "dom_1"); purpose[:8] == first[:8] {
		t.Errorf("two purposes have related values: %s and %s", first, purpose)
	}
	if text, err := seal.OpenFixed("p", first); err != nil || text != "dom_1" {
		t.Errorf("opened as %q, %v", text, err)
	}
}

func TestOpenFixed_RefusesForeignValues(t *testing.T) {
	seal, err := NewSeal(SealKey{1})
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := NewSeal(SealKey{2})
	if err != nil {
		t.Fatal(err)
	}
	good := seal.SealFixed("p", "dom_1")
	for name, value := range map[string]string{
		"empty": "", "no base64": "%%%", "too short": "AAAA", "another key": stranger.SealFixed("p", "dom_1"),
		"another purpose": seal.SealFixed("q", "dom_1"), "a random seal": seal.Seal("p", "dom_1"), "changed": "A" + good, "cut": good[:len(good)-4],
	} {
		if text, err := seal.OpenFixed("p", value); !errors.Is(err, ErrOpenFailed) {
			t.Errorf("%s: opened as %q, %v", name, text, err)
		}
	}
}

func TestOpenFixed_PreviousKeyStillOpens(t *testing.T) {
	old, err := NewSeal(SealKey{1})
	if err != nil {
		t.Fatal(err)
	}
	rotated, err := NewSeal(SealKey{2}, SealKey{1})
	if err != nil {
		t.Fatal(err)
	}
	value := old.SealFixed("p", "dom_1")
	if text, err := rotated.OpenFixed("p", value); err != nil || text != "dom_1" {
		t.Errorf("opened as %q, %v", text, err)
	}
	if rotated.SealFixed("p", "dom_1") == value {
		t.Error("a rotated seal uses the former key")
	}
}
