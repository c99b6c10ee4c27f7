package registrar

import "reflect"

// Default sets an optional field of a configuration that was left out.
func Default[T any](field *T, value T) {
	if reflect.ValueOf(field).Elem().IsZero() {
		*field = value
	}
}
