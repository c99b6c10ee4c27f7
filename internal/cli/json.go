package cli

import (
	"bytes"
	"encoding/json"
)

// EncodeJSON returns one line of JSON without HTML escaping.
func EncodeJSON(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}
