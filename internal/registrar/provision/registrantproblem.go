package provision

import "strconv"

// A registry rejects some registrants for a single field. Account.Missing then returns a word
// like registrant_name_over_50, so that every transport says which field is wrong, and why.

// The reasons. ProblemOver has one more for each limit.
const (
	ProblemMissing     = "missing"
	ProblemScript      = "script"       // letters that can't be written in ASCII
	ProblemBelowDomain = "below_domain" // an email address that would end with the domain
)

// ProblemOver is the reason of a value of more than so many characters.
func ProblemOver(limit int) string { return "over_" + strconv.Itoa(limit) }

// RegistrantProblem is the word for a field of the registrant that the registry would reject.
// Fields are named as in the JSON of registrar.Registrant.
func RegistrantProblem(field, reason string) string { return "registrant_" + field + "_" + reason }

// RegistrantProblems are all words that the built-in policies can produce. Each needs a text.
func RegistrantProblems() []string {
	words := []string{
		RegistrantProblem("phone", ProblemMissing), RegistrantProblem("postal_code", ProblemMissing),
		RegistrantProblem("name", ProblemOver(50)), RegistrantProblem("organisation", ProblemOver(100)),
		RegistrantProblem("email", ProblemBelowDomain),
	}
	for _, field := range []string{"name", "organisation", "street", "postal_code", "city", "state"} {
		words = append(words, RegistrantProblem(field, ProblemScript))
	}
	return words
}
