package registrar

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Cents is an amount in euro cents, net unless a name says otherwise.
type Cents int64

// maxCents keeps every sum of prices far away from overflow.
const maxCents = Cents(math.MaxInt64 / 1_000_000)

// ParseCents parses an amount as written in the price list: digits, a point and exactly
// two decimals. It rejects signs, exponents and thousands separators, so that a typo in
// a price list is an error and not another price.
func ParseCents(text string) (Cents, error) {
	euros, decimals, found := strings.Cut(text, ".")
	if !found || len(decimals) != 2 || euros == "" {
		return 0, fmt.Errorf("amount %q is not written as euros with two decimals, like 12.90", text)
	}
	for _, r := range euros + decimals {
		if r < '0' || r > '9' {
			return 0, fmt.Errorf("amount %q contains %q; only digits and one point are allowed", text, r)
		}
	}
	value, err := strconv.ParseInt(euros+decimals, 10, 64)
	if err != nil || Cents(value) > maxCents {
		return 0, fmt.Errorf("amount %q is too large", text)
	}
	return Cents(value), nil
}

// Append writes the amount with two decimals, as the price list and JSON do.
func (c Cents) Append(b []byte) []byte {
	value := int64(c)
	if value < 0 {
		b = append(b, '-')
		value = -value
	}
	b = strconv.AppendInt(b, value/100, 10)
	rest := value % 100
	return append(b, '.', byte('0'+rest/10), byte('0'+rest%10))
}

func (c Cents) String() string { return string(c.Append(nil)) }

// MarshalJSON writes a JSON number with two decimals: 6.90, not 6.9 and not
// "6.90".
func (c Cents) MarshalJSON() ([]byte, error) { return c.Append(nil), nil }

// UnmarshalJSON accepts only what MarshalJSON writes.
func (c *Cents) UnmarshalJSON(text []byte) error {
	digits, negative := strings.CutPrefix(string(text), "-")
	value, err := ParseCents(digits)
	if err != nil {
		return err
	}
	if *c = value; negative {
		*c = -value
	}
	return nil
}
