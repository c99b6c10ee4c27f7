package ui

// RegistrantTexts are the texts of the form for registrant data.
var RegistrantTexts = Texts{
	"field.kind":         {"Art", "Type"},
	"field.name":         {"Name", "Name"},
	"field.organisation": {"Firma oder Organisation", "Company or organisation"},
	"field.street":       {"Straße und Hausnummer", "Street and number"},
	"field.postal_code":  {"Postleitzahl", "Postal code"},
	"field.city":         {"Ort", "City"},
	"field.state":        {"Bundesstaat oder Provinz", "State or province"},
	"field.country":      {"Land", "Country"},
	"field.phone":        {"Telefon", "Phone"},
	"field.vat_id":       {"Umsatzsteuer-ID", "VAT ID"},
	"kind.person":        {"Privatperson", "Private person"},
	"kind.company":       {"Firma oder Organisation", "Company or organisation"},
	"hint.organisation": {
		"Nötig, wenn eine Firma oder Organisation Inhaberin ist. Selbstständige geben ihre Geschäftsbezeichnung an.",
		"Required if a company or organisation owns the domain. If you are self-employed, enter your business name.",
	},
	"hint.postal_code": {
		"Bleibt nur in Ländern ohne Postleitzahlen leer. In Irland ist es der Eircode.",
		"Leave this empty only in countries without postal codes. In Ireland, it is the Eircode.",
	},
	"hint.state": {
		"Nötig zum Beispiel in den USA, Kanada und Australien.",
		"Required in some countries, such as the USA, Canada and Australia.",
	},
	"hint.phone": {"Mit Ländervorwahl, zum Beispiel +49 30 123456.", "With country code, starting with +, such as +44 or +1."},
	"hint.vat_id": {
		"Zum Beispiel DE123456788. Mit einer Umsatzsteuer-ID oder Firma bestellen Sie als Unternehmen, ohne das Widerrufsrecht für Verbraucher.",
		"For example DE123456788. With a VAT ID or an organisation you order as a business, without a consumer's right of withdrawal.",
	},
	"problem.payment_under_way": {
		"Für diesen Inhaber läuft gerade eine Zahlung. Schließen Sie sie auf der Bestellseite ab, oder brechen Sie sie ab; danach können Sie die Angaben ändern.",
		"A payment for this holder is in progress. Complete or cancel it on the order page; then you can change these details.",
	},
	"problem.registrant_invalid": {
		"Einige Angaben stimmen nicht. Bitte prüfen Sie die markierten Felder.",
		"Some details are incorrect. Please check the marked fields.",
	},
	"problem.missing":          {"Diese Angabe fehlt.", "This field is required."},
	"problem.too_long":         {"Diese Angabe ist zu lang.", "This is too long."},
	"problem.unusable":         {"Diese Angabe enthält nicht erlaubte Zeichen.", "This contains unsupported characters."},
	"problem.form":             {"Diese Angabe hat nicht das richtige Format.", "This isn't in the right format."},
	"problem.unknown":          {"Bitte wählen Sie einen der Werte.", "Please choose one of the options."},
	"problem.postal_code.form": {"Diese Postleitzahl passt nicht zum Land.", "This postal code doesn't match the country."},
	"problem.phone.form": {
		"Bitte geben Sie die Nummer mit Ländervorwahl an, zum Beispiel +49 30 123456.",
		"Please enter the number with country code, starting with +, such as +44 or +1.",
	},
	"problem.phone.too_long": {
		"Diese Nummer ist zu lang. Mit Ländervorwahl darf sie höchstens 15 Ziffern haben.",
		"This number is too long. It can have at most 15 digits, including the country code.",
	},
	"problem.vat_id.form": {"Diese Umsatzsteuer-ID ist ungültig.", "This VAT ID is not valid."},
	"problem.vat_id.foreign": {
		"Wir können nur Umsatzsteuer-IDs aus der EU prüfen. Ist Ihre Anschrift außerhalb der EU, lassen Sie dieses Feld leer; wir berechnen dann keine deutsche Umsatzsteuer.",
		"We can only check VAT IDs from the EU. If your address is outside the EU, leave this field empty; we then charge no German VAT.",
	},
	"problem.field": {"Bitte prüfen Sie diese Angabe.", "Please check this field."},
}
