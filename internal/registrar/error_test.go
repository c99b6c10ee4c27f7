package registrar

import (
	"errors"
	"fmt"
	"testing"
)

func TestError_MatchesKindAndCodeWithoutQuotingCause(t *testing.T) {
	cause := errors.New("Get https://rdap.example/domain/secret-name.de: refused")
	err := fmt.Errorf("wrapped: %w", Fault(FaultRefused, "rdap.example", cause))
	if !errors.Is(err, &Error{Kind: KindUpstream}) || !errors.Is(err, &Error{Code: FaultRefused}) || !errors.Is(err, cause) {
		t.Errorf("%v does not match its kind, code and cause", err)
	}
	if errors.Is(err, &Error{Kind: KindInvalid}) || errors.Is(err, &Error{Code: FaultTimeout}) {
		t.Errorf("%v matches a kind or code that it does not have", err)
	}
	if got, want := err.Error(), "wrapped: upstream (refused): rdap.example"; got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
	if KindOf(cause) != KindInternal || CodeOf(cause) != "" {
		t.Error("a foreign error has a kind or a code")
	}
}
