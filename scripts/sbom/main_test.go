package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

// The test binary itself is the Go binary to describe.
func TestRun_DescribesBinaryReproducibly(t *testing.T) {
	t.Parallel()
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := run(out, os.Args[0], "v1.2.3", "2026-01-01T00:00:00Z"); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two runs differ")
	}
	var got document
	if err := json.Unmarshal(first.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Format != "CycloneDX" || got.Metadata.Component.Version != "v1.2.3" || len(got.Metadata.Component.Hashes) != 1 {
		t.Errorf("got %+v", got)
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(got.SerialNumber) {
		t.Errorf("serial number %q", got.SerialNumber)
	}
	if len(got.Components) == 0 || got.Components[0].Name != "std" {
		t.Errorf("components %+v", got.Components)
	}
}

func TestRun_RejectsWhatIsNoGoBinary(t *testing.T) {
	t.Parallel()
	if err := run(&bytes.Buffer{}, "main.go", "v1.2.3", ""); err == nil {
		t.Error("a source file was described")
	}
}
