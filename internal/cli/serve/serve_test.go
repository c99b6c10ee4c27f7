package serve

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
)

func TestServe_BusyPortNamesSetting(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var out, errOut strings.Builder
	environment := []string{"DOTKONTOR_SERVER_LISTEN=" + taken.Addr().String(), "DOTKONTOR_SERVER_METRICS_LISTEN=off", "DOTKONTOR_DATA=" + t.TempDir()}
	if code := cli.Run(t.Context(), &grammar{}, []string{"serve"}, environment, strings.NewReader(""), &out, &errOut); code != cli.ExitError {
		t.Errorf("exit code %d", code)
	}
	if text := errOut.String(); !strings.Contains(text, "choose another port with server.listen") || strings.Contains(text, "--listen") {
		t.Errorf("got %q", text)
	}
	if got := app.WithPortHint(errors.New("other"), "--listen").Error(); got != "other" {
		t.Errorf("an unrelated error has a hint: %q", got)
	}
}

type grammar struct {
	Serve Command `cmd:""`
}

func TestGCPercent_GivesSmallHeapsFixedHeadroom(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{0: 400, 16 << 20: 400, 32 << 20: 200, 64 << 20: 100, 1 << 30: 100} {
		if got := gcPercentFor(live); got != want {
			t.Errorf("%d bytes: %d percent, want %d", live, got, want)
		}
	}
}
