package ui

// registrantProblems say which field of the registrant the registry of an extension rejects,
// and why, by the words of provision.RegistrantProblems.
var registrantProblems = Texts{
	"registrant_phone_missing": {
		"Die Registry dieser Endung verlangt eine Telefonnummer des Inhabers.",
		"The registry of this extension requires the holder's phone number.",
	},
	"registrant_postal_code_missing": {
		"Die Registry dieser Endung verlangt eine Postleitzahl in der Anschrift des Inhabers.",
		"The registry of this extension requires a postal code in the holder's address.",
	},
	"registrant_name_over_50": {
		"Der Name des Inhabers darf bei dieser Endung höchstens 50 Zeichen lang sein. Bitte kürzen Sie ihn.",
		"For this extension, the holder's name can have at most 50 characters. Please shorten it.",
	},
	"registrant_organisation_over_100": {
		"Die Firma oder Organisation darf bei dieser Endung höchstens 100 Zeichen lang sein. Bitte kürzen Sie sie.",
		"For this extension, the company or organisation can have at most 100 characters. Please shorten it.",
	},
	"registrant_email_below_domain": {
		"Die E-Mail-Adresse des Inhabers liegt unter der bestellten Domain. Das lässt die Registry dieser Endung nicht zu. Bitte verwenden Sie eine andere Adresse.",
		"The holder's email address is under the domain being ordered, which the registry of this extension does not allow. Please use another address.",
	},
	"registrant_name_script": {
		"Die Registry dieser Endung nimmt nur lateinische Schrift an. Bitte schreiben Sie den Namen des Inhabers in lateinischen Buchstaben.",
		"The registry of this extension accepts Latin script only. Please write the holder's name in Latin letters.",
	},
	"registrant_organisation_script": {
		"Die Registry dieser Endung nimmt nur lateinische Schrift an. Bitte schreiben Sie die Firma oder Organisation in lateinischen Buchstaben.",
		"The registry of this extension accepts Latin script only. Please write the company or organisation in Latin letters.",
	},
	"registrant_street_script": {
		"Die Registry dieser Endung nimmt nur lateinische Schrift an. Bitte schreiben Sie die Straße in lateinischen Buchstaben.",
		"The registry of this extension accepts Latin script only. Please write the street in Latin letters.",
	},
	"registrant_postal_code_script": {
		"Die Registry dieser Endung nimmt nur lateinische Schrift an. Bitte schreiben Sie die Postleitzahl mit lateinischen Buchstaben und Ziffern.",
		"The registry of this extension accepts Latin script only. Please write the postal code in Latin letters and digits.",
	},
	"registrant_city_script": {
		"Die Registry dieser Endung nimmt nur lateinische Schrift an. Bitte schreiben Sie den Ort in lateinischen Buchstaben.",
		"The registry of this extension accepts Latin script only. Please write the city in Latin letters.",
	},
	"registrant_state_script": {
		"Die Registry dieser Endung nimmt nur lateinische Schrift an. Bitte schreiben Sie den Bundesstaat oder die Provinz in lateinischen Buchstaben.",
		"The registry of this extension accepts Latin script only. Please write the state or province in Latin letters.",
	},
}

// WithRegistrantProblems adds the texts about rejected fields of a registrant, each under the
// prefixes and its word.
func WithRegistrantProblems(texts Texts, prefixes ...string) Texts {
	for word, text := range registrantProblems {
		for _, prefix := range prefixes {
			texts[prefix+word] = text
		}
	}
	return texts
}

// RegistrantProblem is the English text for programs; empty if the word is none of
// provision.RegistrantProblems.
func RegistrantProblem(word string) string { return registrantProblems[word][1] }
