// Package eppschema validates EPP frames with xmllint, an independent implementation. It
// needs the IETF's schemas, whose folder the environment names; the two schemas of registries
// in this package were written for it.
package eppschema

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Folder is the folder with the EPP schemas (epp.xsd and what it imports), empty if the
// environment names none.
func Folder() string { return os.Getenv("EPP_XSD_DIR") }

//go:embed *.xsd
var registrySchemas embed.FS

// imports are the schemas that epp.xsd does not import, by namespace.
var imports = map[string]string{
	"urn:ietf:params:xml:ns:changePoll-1.0":       "changePoll-1.0.xsd",
	"http://www.eurid.eu/xml/epp/contact-ext-1.3": "contact-ext-1.3.xsd",
	"http://www.nic.at/xsd/at-ext-contact-1.0":    "at-ext-contact-1.0.xsd",
}

const (
	perCall     = 500 // files of one call of xmllint
	callTimeout = time.Minute
)

// Validate returns an error that names the invalid frames, at most twenty lines.
func Validate(schemas string, frames []string) error {
	if !filepath.IsAbs(schemas) {
		return fmt.Errorf("EPP_XSD_DIR is %q; tests run in their packages' folders, so it must be an absolute path", schemas)
	}
	tool, err := exec.LookPath("xmllint")
	if err != nil {
		return errors.New("EPP_XSD_DIR is set, but xmllint is missing; install it with: apt-get install libxml2-utils")
	}
	folder, err := os.MkdirTemp("", "epp-frames")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	schema, err := writeSchema(schemas, folder)
	if err != nil {
		return err
	}
	var wrong []string
	for len(frames) > 0 {
		some := frames[:min(len(frames), perCall)]
		frames = frames[len(some):]
		args := []string{"--noout", "--nonet", "--schema", schema}
		for i, frame := range some {
			path := filepath.Join(folder, fmt.Sprintf("%04d.xml", i))
			if err := os.WriteFile(path, []byte(frame), 0o600); err != nil {
				return err
			}
			args = append(args, path)
		}
		ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
		out, err := exec.CommandContext(ctx, tool, args...).CombinedOutput()
		late := ctx.Err() != nil
		cancel()
		if err == nil {
			continue
		}
		if late || !strings.Contains(string(out), ".xml:") { // not about a frame
			return fmt.Errorf("xmllint: %w\n%s", err, out)
		}
		for line := range strings.Lines(string(out)) {
			if strings.HasSuffix(strings.TrimSpace(line), "validates") {
				continue
			}
			path, _, named := strings.Cut(line, ".xml:")
			if text, err := os.ReadFile(path + ".xml"); named && err == nil {
				line += string(text) + "\n"
			}
			wrong = append(wrong, line)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("frames that violate the schemas:\n%s", strings.Join(wrong[:min(len(wrong), 20)], ""))
}

// writeSchema writes a copy of epp.xsd with the other imports, as far as they exist.
func writeSchema(schemas, folder string) (string, error) {
	text, err := os.ReadFile(filepath.Join(schemas, "epp.xsd"))
	if err != nil {
		return "", err
	}
	all := strings.ReplaceAll(string(text), `schemaLocation="`, `schemaLocation="`+schemas+`/`)
	for namespace, file := range imports {
		location := filepath.Join(schemas, file)
		if own, err := registrySchemas.ReadFile(file); err == nil {
			location = filepath.Join(folder, file)
			if err := os.WriteFile(location, own, 0o600); err != nil {
				return "", err
			}
		}
		if _, err := os.Stat(location); err == nil && !strings.Contains(all, namespace) {
			all = strings.Replace(all, "</schema>", `<import namespace="`+namespace+`" schemaLocation="`+location+`"/></schema>`, 1)
		}
	}
	path := filepath.Join(folder, "epp.xsd")
	return path, os.WriteFile(path, []byte(all), 0o600)
}
