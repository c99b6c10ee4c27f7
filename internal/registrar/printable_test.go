package registrar

import "testing"

func TestIsUnprintable_LineBreaksAndDirectionMarks(t *testing.T) {
	t.Parallel()
	for _, r := range "\n\r\t\x00\u2028\u2029\u202e\u2066" {
		if !IsUnprintable(r) {
			t.Errorf("%q is printable", r)
		}
		if IsUnprintableInLines(r) != (r != '\n') {
			t.Errorf("%q in lines", r)
		}
	}
	for _, r := range "aß 京\u00a0€😀" {
		if IsUnprintable(r) || IsUnprintableInLines(r) {
			t.Errorf("%q is unprintable", r)
		}
	}
}
