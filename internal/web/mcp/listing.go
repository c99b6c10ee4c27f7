package mcp

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
)

// The tools as models see them: tools.json lists the tools, shareddefs.json the shapes
// that several of them share.
var (
	//go:embed tools.json
	toolsText string
	//go:embed shareddefs.json
	definitionsText []byte
)

// Limits are the numbers in the tool descriptions.
type Limits struct {
	LookupPerMinute, LookupPer6Hours int
	WhoisPerMinute, WhoisPer6Hours   int
}

// listedTool is one entry of tools.json.
type listedTool struct {
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	SignedIn    bool              `json:"signedIn"`
	ReadOnly    bool              `json:"readOnly"`
	Idempotent  bool              `json:"idempotent"`
	Destructive bool              `json:"destructive"`
	OpenWorld   bool              `json:"openWorld"`
	Input       json.RawMessage   `json:"input"`
	Results     []json.RawMessage `json:"results"`
}

func readListing(limits Limits) ([]listedTool, error) {
	text := strings.NewReplacer(
		"{lookup_per_minute}", strconv.Itoa(limits.LookupPerMinute),
		"{lookup_per_6_hours}", strconv.Itoa(limits.LookupPer6Hours),
		"{whois_per_minute}", strconv.Itoa(limits.WhoisPerMinute),
		"{whois_per_6_hours}", strconv.Itoa(limits.WhoisPer6Hours),
	).Replace(toolsText)
	var list []listedTool
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("mcp: tools.json: %w", err)
	}
	return list, nil
}

// toolDescription is a tool as tools/list describes it.
type toolDescription struct {
	Meta struct {
		SecuritySchemes json.RawMessage `json:"securitySchemes"`
	} `json:"_meta"`
	Annotations struct {
		Destructive bool   `json:"destructiveHint"`
		Idempotent  bool   `json:"idempotentHint"`
		OpenWorld   bool   `json:"openWorldHint"`
		ReadOnly    bool   `json:"readOnlyHint"`
		Title       string `json:"title"`
	} `json:"annotations"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	Name         string          `json:"name"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Title        string          `json:"title"`
}

func (l listedTool) describe() (toolDescription, error) {
	d := toolDescription{Description: l.Description, InputSchema: l.Input, Name: l.Name, Title: l.Title}
	d.Meta.SecuritySchemes = l.securitySchemes()
	d.Annotations.Destructive, d.Annotations.OpenWorld, d.Annotations.ReadOnly = l.Destructive, l.OpenWorld, l.ReadOnly
	d.Annotations.Idempotent, d.Annotations.Title = l.ReadOnly || l.Idempotent, l.Title
	var err error
	if d.OutputSchema, err = l.output(); err != nil {
		return d, fmt.Errorf("mcp: output schema of %s: %w", l.Name, err)
	}
	return d, nil
}

// describe prepares the results that are the same for all callers.
func (s *Server) describe() error {
	listing, err := readListing(s.cfg.Limits)
	if err != nil {
		return err
	}
	var tools []any
	for _, entry := range listing {
		described, err := entry.describe()
		if err != nil {
			return err
		}
		tools = append(tools, described)
	}
	capabilities := map[string]json.RawMessage{"tools": json.RawMessage("{}")}
	maps.Copy(capabilities, s.cfg.Extension.Capabilities)
	for _, tool := range s.cfg.Extension.Tools {
		tools = append(tools, tool)
	}
	server := struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
		Website string `json:"websiteUrl"`
	}{"dotkontor", "dotkontor domains", s.cfg.Version, s.cfg.BaseURL}
	// The server's metadata may be cached, for all callers alike (since 2026-07-28).
	cache := map[string]any{"ttlMs": listTTL.Milliseconds(), "cacheScope": "public"}
	for _, result := range []struct {
		target *[]byte
		fields []any // objects
	}{
		{&s.listing, []any{cache, map[string]any{"tools": tools}}},
		{&s.discovery, []any{cache, map[string]any{"supportedVersions": versions, "capabilities": capabilities, "instructions": instructions}}},
		{&s.introduction, []any{map[string]any{"capabilities": capabilities, "instructions": instructions, "serverInfo": server}}},
		{&s.serverMeta, []any{map[string]any{"_meta": map[string]any{metaPrefix + "serverInfo": server}}}},
	} {
		for _, object := range result.fields {
			var text bytes.Buffer
			encoder := json.NewEncoder(&text)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(object); err != nil {
				return fmt.Errorf("mcp: %w", err)
			}
			if len(*result.target) > 0 {
				*result.target = append(*result.target, ',')
			}
			*result.target = append(*result.target, text.Bytes()[1:text.Len()-len("}\n")]...)
		}
	}
	return nil
}

// securitySchemes declares which tools need sign-in.
func (l listedTool) securitySchemes() json.RawMessage {
	if l.SignedIn {
		return json.RawMessage(`[{"type":"oauth2","scopes":["` + oauth.ScopeWrite + `"]}]`)
	}
	return json.RawMessage(`[{"type":"noauth"}]`)
}

// output is the schema of every possible result. It includes failures, because clients
// validate their structured content too. A schema must be self-contained, so each
// includes the definitions that it uses.
func (l listedTool) output() (json.RawMessage, error) {
	var known map[string]json.RawMessage
	if err := json.Unmarshal(definitionsText, &known); err != nil {
		return nil, err
	}
	shapes := append([]json.RawMessage{}, l.Results...)
	shapes = append(shapes, json.RawMessage(`{"$ref":"#/$defs/failure"}`))
	used := map[string]json.RawMessage{}
	for pending := slices.Clone(shapes); len(pending) > 0; pending = pending[1:] {
		for name, definition := range known {
			if _, added := used[name]; !added && bytes.Contains(pending[0], []byte(`"#/$defs/`+name+`"`)) {
				used[name] = definition
				pending = append(pending, definition)
			}
		}
	}
	return json.Marshal(map[string]any{"type": "object", "anyOf": shapes, "$defs": used})
}
