package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// panickingWriter panics with personal data.
type panickingWriter struct{}

func (panickingWriter) Write([]byte) (int, error) { panic("canary@example.org") }

func TestRun_PanicReportHasStackNotMessage(t *testing.T) {
	t.Parallel()
	var errOut bytes.Buffer
	code := Run(t.Context(), &grammar{}, []string{"version"}, nil, strings.NewReader(""), panickingWriter{}, &errOut)
	if code != ExitError || !strings.Contains(errOut.String(), registrar.PanicRecovered) || !strings.Contains(errOut.String(), "run_test.go") ||
		strings.Contains(errOut.String(), "canary") {
		t.Errorf("exit code %d: %s", code, &errOut)
	}
}

type grammar struct {
	Version VersionCommand `cmd:""`
}
