package ui

import (
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Field is one input. Label, hint and problem are tied to it, so that a screen reader
// announces them together. The template "field" renders it.
type Field struct {
	// ID distinguishes it from a field of the same name in another form; empty means
	// Name.
	ID   string
	Name string
	// Label, Hint and Problem are text keys.
	Label, Hint, Problem string
	Type                 string // the type of the input element
	Value                string
	Autocomplete         string // the hint for password managers
	InputMode            string
	MaxLength            int
	// Optional is shown next to the label; ServerChecked leaves it to the server to
	// require a value.
	Optional, ServerChecked bool
	Focus                   bool
	Choices                 []Choice // make it a select element
	// Only is the choice of another field with which this one is shown: company, date, ordinary, or
	// state, which is a country whose addresses have one;
	// style.css hides it otherwise, where the browser can. It must not be required then.
	Only string
}

// Choice is one option. It shows the text of the key Label or, if that is empty, Text.
type Choice struct{ Value, Label, Text string }

// Key returns the element's id.
func (f Field) Key() string {
	if f.ID != "" {
		return f.ID
	}
	return f.Name
}

// Required reports whether the browser may require a value.
func (f Field) Required() bool { return !f.Optional && !f.ServerChecked }

// Describers returns the ids of the texts that describe this field.
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

// With returns the field with a value and a problem. The value of a password is never
// rendered.
func (f Field) With(value, problem string) Field {
	if f.Type != "password" {
		f.Value = value
	}
	f.Problem = problem
	return f
}

// ProblemKey returns the text key for a code.
func ProblemKey(code registrar.Code) string { return "problem." + string(code) }
