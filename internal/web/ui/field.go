package ui

import (
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Field is one input with all that belongs to it: label, hint and problem are
// tied to it, so that a screen reader tells them together. The template "field"
// shows it.
type Field struct {
	// ID tells it from a field of the same name in another form; empty means Name.
	ID   string
	Name string
	// Label, Hint and Problem are keys of texts.
	Label, Hint, Problem string
	// Type is that of the input element.
	Type  string
	Value string
	// Autocomplete tells password managers what belongs here.
	Autocomplete string
	InputMode    string
	MaxLength    int
	// Optional says so beside the label; Sometimes only leaves it to the server to
	// ask for it.
	Optional, ServerChecked bool
	Focus                   bool
	// Choices make it a selection.
	Choices []Choice
}

// Choice is one line of a selection. It shows the text of the key Label or, where
// there is none, Text.
type Choice struct{ Value, Label, Text string }

// Key is the element's id.
func (f Field) Key() string {
	if f.ID != "" {
		return f.ID
	}
	return f.Name
}

// Required is what a browser may insist on.
func (f Field) Required() bool { return !f.Optional && !f.ServerChecked }

// Describers are the ids of the texts about this field.
func (f Field) Describers() string {
	var ids []string
	if f.Hint != "" {
		ids = append(ids, f.Key()+"-hint")
	}
	if f.Problem != "" {
		ids = append(ids, f.Key()+"-problem")
	}
	return strings.Join(ids, " ")
}

// With is the field with a value and a problem. A password's value is never
// shown again.
func (f Field) With(value, problem string) Field {
	if f.Type != "password" {
		f.Value = value
	}
	f.Problem = problem
	return f
}

// ProblemKey is the key of the sentence for a code.
func ProblemKey(code registrar.Code) string { return "problem." + string(code) }
