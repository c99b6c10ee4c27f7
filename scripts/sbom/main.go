// Command sbom prints a software bill of materials for a Go binary, as CycloneDX 1.6
// JSON. It lists the modules that the linker recorded in the binary, so it names what is
// in it and nothing else. Equal binaries have equal documents.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

func main() {
	version := flag.String("version", "", "the version of the binary")
	date := flag.String("date", "", "the time of the release, RFC 3339")
	flag.Parse()
	if err := run(os.Stdout, flag.Arg(0), *version, *date); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

type document struct {
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	SerialNumber string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp,omitempty"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

func run(out io.Writer, path, version, date string) error {
	if path == "" || version == "" {
		return errors.New("usage: sbom -version VERSION [-date TIME] BINARY")
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(describe(info, sha256.Sum256(content), version, date), "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", text)
	return err
}

func describe(info *debug.BuildInfo, sum [sha256.Size]byte, version, date string) document {
	root := component{
		Type: "application", Ref: purl(info.Main.Path, version), Name: info.Main.Path, Version: version, PURL: purl(info.Main.Path, version),
		Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}},
	}
	for _, setting := range info.Settings {
		root.Properties = append(root.Properties, property{"go:build:" + setting.Key, setting.Value})
	}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	components := []component{{Type: "library", Ref: purl("std", goVersion), Name: "std", Version: goVersion, PURL: purl("std", goVersion)}}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		ref := purl(module.Path, module.Version)
		components = append(components, component{
			Type: "library", Ref: ref, Name: module.Path, Version: module.Version, PURL: ref,
			Properties: []property{{"go:sum", module.Sum}},
		})
	}
	direct := dependency{Ref: root.Ref}
	for _, c := range components {
		direct.DependsOn = append(direct.DependsOn, c.Ref)
	}
	// A UUID of version 8 (RFC 9562): custom, here from the binary's hash.
	id := [16]byte(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return document{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		SerialNumber: fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]),
		Metadata:     metadata{Timestamp: date, Component: root},
		Components:   components, Dependencies: []dependency{direct},
	}
}

// purl is a package URL (purl-spec, type golang).
func purl(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}
