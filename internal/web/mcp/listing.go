package mcp

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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

// tool converts the entry for the SDK, with its schemas ready to send.
func (l listedTool) tool() (*sdk.Tool, error) {
	input, err := compact(l.Input)
	if err != nil {
		return nil, fmt.Errorf("mcp: input schema of %s: %w", l.Name, err)
	}
	output, err := l.output()
	if err != nil {
		return nil, fmt.Errorf("mcp: output schema of %s: %w", l.Name, err)
	}
	return &sdk.Tool{
		Name: l.Name, Title: l.Title, Description: l.Description,
		InputSchema: input, OutputSchema: output,
		Annotations: &sdk.ToolAnnotations{
			Title: l.Title, ReadOnlyHint: l.ReadOnly, DestructiveHint: &l.Destructive,
			IdempotentHint: l.ReadOnly || l.Idempotent, OpenWorldHint: &l.OpenWorld,
		},
		Meta: sdk.Meta{"securitySchemes": l.securitySchemes()},
	}, nil
}

// securitySchemes tells clients which tools need sign-in.
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

func compact(text json.RawMessage) (json.RawMessage, error) {
	var short bytes.Buffer
	err := json.Compact(&short, text)
	return short.Bytes(), err
}
