package httpjson

import "github.com/dotkontor/dotkontor/internal/registrar"

// Codes that several transports use.
const (
	BodyTooLarge     registrar.Code = "body_too_large"
	NoSuchMethod     registrar.Code = "no_such_method"
	OverBudget       registrar.Code = "over_budget"
	TooManyBadTokens registrar.Code = "too_many_bad_tokens"
)
