package admin

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/cli"
)

func TestRegistryCheck_RefusedConnectionNamesAccountAndAddress(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "serve.toml")
	text := fmt.Sprintf("data = %q\n[[epp]]\nname = \"acme\"\nserver = %q\nuser = \"client-1\"\npassword = \"canary-secret\"\nextensions = [\".com\"]\n", folder, address)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var errOut bytes.Buffer
	code := cli.Run(t.Context(), &grammar{}, []string{"registry", "check", "--config", file, "canary.com"}, nil, strings.NewReader(""), io.Discard, &errOut)
	if code != cli.ExitError || !strings.Contains(errOut.String(), "epp: connect at acme ("+address+"): connection_refused: the server does not accept connections") ||
		strings.Contains(errOut.String(), "canary") {
		t.Errorf("exit code %d: %s", code, &errOut)
	}
}
