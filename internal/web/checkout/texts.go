package checkout

import "github.com/dotkontor/dotkontor/internal/web/ui"

var texts = ui.WithRequirements(ui.Texts{
	"pay.title.awaiting_verification": {"Bestellung prüfen", "Review your order"},
	"pay.title.awaiting_payment":      {"Bestellung prüfen und bezahlen", "Review and pay your order"},
	"pay.title.free":                  {"Bestellung prüfen und beauftragen", "Review and confirm your order"},
	"pay.title.paying":                {"Zahlung läuft", "Payment in progress"},
	"pay.title.provisioning":          {"Bestellung wird bearbeitet", "We are processing your order"},
	"pay.title.completed":             {"Bestellung ausgeführt", "Order completed"},
	"pay.title.partially_completed":   {"Bestellung teilweise ausgeführt", "Order partly completed"},
	"pay.title.failed":                {"Bestellung nicht ausgeführt", "Order failed"},
	"pay.title.canceled":              {"Bestellung storniert", "Order canceled"},
	"pay.title.expired":               {"Bestellung abgelaufen", "Order expired"},

	"pay.text.awaiting_verification": {
		"Ihre Bestellung ist vorbereitet. Weisen Sie vor der Zahlung bitte Ihre Identität nach. Bisher wurde nichts abgebucht.",
		"Your order is ready. Verify your identity before you pay. Nothing has been charged.",
	},
	"pay.text.awaiting_payment": {
		"Ihre Bestellung ist vorbereitet. Abgebucht wird erst, wenn Sie bezahlen.",
		"Your order is ready. Nothing is charged until you pay.",
	},
	"pay.text.free": {
		"Ihre Bestellung ist vorbereitet und kostet nichts. Wir beginnen, sobald Sie zustimmen.",
		"Your order is ready and free of charge. We start as soon as you confirm.",
	},
	"pay.text.paying": {
		"Die Zahlungsseite ist geöffnet. Sobald Ihre Zahlung da ist, aktualisiert sich diese Seite von selbst.",
		"The payment page is open. This page updates on its own once we receive your payment.",
	},
	"pay.patience": {
		"Bei vielen Endungen dauert ein Umzug bis zu fünf Tage.",
		"For many extensions a transfer takes up to five days.",
	},
	"pay.text.provisioning": {
		"Vielen Dank. Hier sehen Sie den aktuellen Stand. Sie können die Seite schließen: Wir schreiben Ihnen, wenn alles erledigt ist.",
		"Thank you. This page shows the progress. You can close it: we will email you when everything is done.",
	},
	"pay.text.completed": {"Alles ist erledigt.", "Everything is done."},
	"pay.text.partially_completed": {
		"Ein Teil war nicht möglich. Das Geld dafür erstatten wir.",
		"Some items failed. We are refunding them.",
	},
	"pay.text.failed": {
		"Die Bestellung war nicht möglich. Ihre Zahlung erstatten wir.",
		"We couldn't complete this order. We are refunding your payment.",
	},
	"pay.text.canceled": {
		"Diese Bestellung wurde storniert. Es wird nichts abgebucht.",
		"This order was canceled. Nothing will be charged.",
	},
	"pay.text.expired": {
		"Diese Bestellung wurde nicht rechtzeitig bezahlt. Es wird nichts abgebucht.",
		"This order was not paid while its prices were valid. Nothing will be charged.",
	},
	"pay.unmatched": {
		"Eine Zahlung ist erst eingegangen, als die Bestellung schon abgeschlossen war. Wir erstatten sie vollständig.",
		"A payment arrived after this order was closed. We are refunding it in full.",
	},
	"pay.returned": {
		"Eine Zahlung ist erst eingegangen, als die Bestellung schon abgeschlossen war. Wir haben sie vollständig erstattet.",
		"A payment arrived after this order was closed. We have refunded it in full.",
	},
	"pay.not_updated": {
		"Preise und Verfügbarkeit konnten wir gerade nicht aktualisieren. Vor der Zahlung prüfen wir sie noch einmal.",
		"Prices and availability could not be updated just now. We check them again before you pay.",
	},
	"pay.not_updated.at": {"Stand:", "Last updated"},

	"pay.other.heading": {"Sie sind mit einem anderen Konto angemeldet", "You are signed in to another account"},
	"pay.other": {
		"Sie sind als {1} angemeldet. Diese Bestellung gehört zum Konto {2}. Nur damit können Sie bezahlen oder ablehnen.",
		"You are signed in as {1}. This order belongs to {2}. Only that account can pay or decline it.",
	},
	"pay.other.sign_out":  {"Konto wechseln", "Switch accounts"},
	"pay.sign_in.heading": {"Bitte melden Sie sich an", "Please sign in"},
	"pay.sign_in": {
		"Diese Bestellung gehört zum Konto {1}. Melden Sie sich damit an, um zu bezahlen oder abzulehnen.",
		"This order belongs to {1}. Sign in to that account to pay or decline it.",
	},
	"pay.sign_in.button": {"Anmelden", "Sign in"},
	"pay.about":          {"Über diese Bestellung", "About this order"},
	"pay.asked":          {"Vorbereitet von", "Prepared by"},
	"pay.owner":          {"Inhaber der Domains", "Domain holder"},
	"pay.until":          {"Preise gelten bis", "Prices valid until"},
	"pay.paid_at":        {"Bezahlt", "Paid"},
	"pay.confirmed_at":   {"Beauftragt", "Confirmed"},
	"pay.number":         {"Bestellnummer", "Order number"},
	"pay.items":          {"Ihre Bestellung", "Your order"},
	"pay.submit":         {"Zahlungspflichtig bestellen", "Order with obligation to pay"},
	"pay.submit_free":    {"Kostenlos beauftragen", "Order free of charge"},
	"pay.then":           {"Danach öffnet sich die Seite unseres Zahlungsdienstes.", "Our payment provider's page opens next."},
	"pay.then_free":      {"Es wird nichts abgebucht.", "Nothing will be charged."},
	"pay.refused": {
		"Diese Bestellung lässt sich nicht mehr ausführen. Lehnen Sie sie bitte ab und bestellen Sie neu, was noch verfügbar ist.",
		"This order can no longer be completed. Decline it and order the items that are still available.",
	},
	"pay.incomplete": {
		"Bezahlen können Sie, sobald die Angaben oben vollständig sind.",
		"You can pay once the details above are complete.",
	},
	"pay.incomplete_free": {
		"Beauftragen können Sie, sobald die Angaben oben vollständig sind.",
		"You can confirm once the details above are complete.",
	},
	"pay.continue":   {"Weiter zur Zahlung", "Continue to payment"},
	"pay.cancel":     {"Zahlung abbrechen", "Cancel payment"},
	"pay.decline":    {"Bestellung ablehnen", "Decline order"},
	"pay.to_invoice": {"Zur Rechnung", "View invoice"},
	"pay.to_domains": {"Zu Ihren Domains", "View your domains"},

	"asked.token":       {"einem Programm mit Zugangstoken", "a program with an access token"},
	"asked.application": {"einer verbundenen Anwendung", "a connected application"},
	"asked.person":      {"einer Person im Portal", "a person in the portal"},

	"items.domain":  {"Domain", "Domain"},
	"items.what":    {"Leistung", "Service"},
	"table.state":   {"Stand", "Status"},
	"items.net":     {"Netto", "Net"},
	"items.vat":     {"USt.", "VAT"},
	"items.gross":   {"Brutto", "Gross"},
	"sums.net":      {"Summe netto", "Net total"},
	"sums.vat":      {"Umsatzsteuer {1}", "VAT {1}"},
	"sums.gross":    {"Gesamtbetrag", "Total"},
	"kind.register": {"Registrierung", "Registration"},
	"kind.transfer": {"Umzug zu uns", "Transfer"},
	"kind.renew":    {"Verlängerung", "Renewal"},
	"kind.restore":  {"Wiederherstellung", "Restore"},
	"items.until":   {"danach bezahlt bis {1}", "then paid until {1}"},
	"term.none":     {"ohne neue Laufzeit", "no new term"},
	"term.one":      {"1 Jahr", "1 year"},
	"term.many":     {"{1} Jahre", "{1} years"},

	"item.provisioning.register": {"wird registriert", "being registered"},
	"item.provisioning.transfer": {"Umzug läuft", "transfer in progress"},
	"item.provisioning.renew":    {"wird verlängert", "being renewed"},
	"item.provisioning.restore":  {"wird wiederhergestellt", "being restored"},
	"item.active.register":       {"registriert", "registered"},
	"item.active.transfer":       {"umgezogen", "transferred"},
	"item.active.renew":          {"verlängert", "renewed"},
	"item.active.restore":        {"wiederhergestellt", "restored"},
	"item.failed":                {"nicht möglich, wird erstattet", "failed, refund on its way"},
	"item.failed.free":           {"nicht möglich", "failed"},
	"item.refunded":              {"nicht möglich, erstattet", "failed, refunded"},

	"vat.domestic": {"Mit deutscher Umsatzsteuer.", "Includes German VAT."},
	"vat.unknown_country": {
		"Mit deutscher Umsatzsteuer, weil wir Ihr Land noch nicht kennen. Das kann sich mit der Anschrift des Domaininhabers ändern.",
		"Includes German VAT, because we don't know your country yet. This may change once you enter the domain holder's address.",
	},
	"vat.outside_eu": {
		"Ohne Umsatzsteuer: Sie sind außerhalb der Europäischen Union ansässig.",
		"No VAT: your address is outside the European Union.",
	},
	"vat.reverse_charge": {
		"Steuerschuldnerschaft des Leistungsempfängers (Reverse Charge), Umsatzsteuer-ID {1}.",
		"Reverse charge: VAT is payable by the recipient. VAT ID {1}.",
	},
	"vat.eu_consumer":     {"Mit deutscher Umsatzsteuer.", "Includes German VAT."},
	"vat.eu_consumer_oss": {"Mit der Umsatzsteuer Ihres Landes.", "Includes the VAT of your country."},
	"vat.not_confirmed": {
		"Mit Umsatzsteuer: Ihre Umsatzsteuer-ID ist nicht bestätigt. Sie muss aus dem Land Ihrer Anschrift sein und im europäischen Verzeichnis (VIES) stehen.",
		"Includes VAT, because your VAT ID is not confirmed. It must belong to the country of your address and be listed in the EU register (VIES).",
	},
	"vat.unchecked": {
		"Ihre Umsatzsteuer-ID ließ sich gerade nicht prüfen, deshalb berechnen wir Umsatzsteuer. Wenn Sie das nicht möchten, versuchen Sie es später noch einmal.",
		"We couldn't check your VAT ID just now, so VAT is charged. If you don't want that, try again later.",
	},

	"warning.known_name": {"Achtung, das ist fast {1}. Vertippt?", "Careful, this is almost {1}. Is it a typo?"},
	"warning.own_name": {
		"Achtung, das ist fast Ihre Domain {1}. Vertippt?",
		"Careful, this is almost your domain {1}. Is it a typo?",
	},
	"warning.script": {
		"Achtung, dieser Name enthält Buchstaben, die nur lateinisch aussehen.",
		"Careful, this name contains letters that only look Latin.",
	},
	"warning.extension": {
		"Achtung, die Endung ist leicht zu verwechseln. Meinten Sie {1}?",
		"Careful, this extension is easily confused. Did you mean {1}?",
	},

	"need.registrant.heading": {"Wem sollen die Domains gehören?", "Who will own the domains?"},
	"need.registrant": {
		"Für eine Registrierung brauchen wir Name und Anschrift des Domaininhabers.",
		"To register a domain we need the holder's name and address.",
	},
	"need.registrant.button": {"Angaben ergänzen", "Enter details"},
	"need.identity": {
		"Für diese Bestellung müssen Sie einmal Ihre Identität nachweisen. Danach können Sie bezahlen.",
		"This order requires you to verify your identity once. Then you can pay.",
	},
	"need.identity.button": {"Identität nachweisen", "Verify identity"},

	"rule.eu_presence": {
		"Diese Endung ist Inhabern in der Europäischen Union und im Europäischen Wirtschaftsraum vorbehalten. Bitte geben Sie eine dortige Anschrift an.",
		"This extension is reserved for holders in the European Union and the European Economic Area. Please enter an address there.",
	},
	"rule.ch_presence": {
		"Diese Endung ist Firmen mit Sitz in der Schweiz vorbehalten.",
		"This extension is reserved for companies based in Switzerland.",
	},
	"rule.us_nexus":    {"Diese Endung verlangt eine Verbindung zu den USA.", "This extension requires a connection to the USA."},
	"rule.ca_presence": {"Diese Endung ist Inhabern in Kanada vorbehalten.", "This extension is reserved for holders in Canada."},
	"rule.au_presence": {
		"Diese Endung ist Inhabern in Australien vorbehalten.",
		"This extension is reserved for holders in Australia.",
	},
	"rule.nyc_presence": {
		"Diese Endung ist Inhabern in der Stadt New York vorbehalten.",
		"This extension is reserved for holders in New York City.",
	},
	"rule.ie_connection": {
		"Diese Endung verlangt eine Verbindung zu Irland.",
		"This extension requires a connection to Ireland.",
	},
	"rule.id_number": {
		"Diese Endung verlangt eine Ausweis- oder Registernummer.",
		"This extension requires an identity or company register number.",
	},
	"rule.es_id_number": {
		"Diese Endung verlangt eine spanische Ausweis- oder Steuernummer.",
		"This extension requires a Spanish identity or tax number.",
	},
	"rule.it_tax_id": {"Diese Endung verlangt eine italienische Steuernummer.", "This extension requires an Italian tax number."},
	"rule.no_org_number": {
		"Diese Endung verlangt eine norwegische Organisationsnummer.",
		"This extension requires a Norwegian organisation number.",
	},
	"rule.register_number": {
		"Diese Endung verlangt eine Handelsregisternummer.",
		"This extension requires a company register number.",
	},
	"rule.profession": {
		"Diese Endung ist bestimmten Berufen vorbehalten.",
		"This extension is reserved for certain professions.",
	},

	"code.heading": {"Auth-Code für {1}", "Auth code for {1}"},
	"code.intro": {
		"Für den Umzug brauchen wir den Auth-Code. Sie bekommen ihn von Ihrem bisherigen Anbieter.",
		"To transfer the domain we need its auth code. You get it from your current provider.",
	},
	"code.label":  {"Auth-Code", "Auth code"},
	"code.hint":   {"Auch AuthInfo, Transfer- oder Umzugscode genannt.", "Also called AuthInfo, EPP code or transfer code."},
	"code.submit": {"Auth-Code speichern", "Save auth code"},
	"code.saved":  {"Der Auth-Code ist hinterlegt.", "The auth code is saved."},
	"code.change": {"Anderen Auth-Code eingeben", "Enter a different auth code"},

	"renew.label":     {"Automatisch verlängern.", "Renew automatically."},
	"renew.row":       {"{1}: {2} für {3}, erste Abbuchung voraussichtlich am {4}", "{1}: {2} for {3}, first charge expected on {4}"},
	"renew.row_later": {"{1}: {2} für {3}, erste Abbuchung {4} Tage vor dem Ende der Laufzeit", "{1}: {2} for {3}, first charge {4} days before the end of the term"},
	"renew.hint": {
		"Freiwillig. Unser Zahlungsdienst speichert dafür das Zahlungsmittel, mit dem Sie jetzt bezahlen. Ohne Häkchen schreiben wir Ihnen vor dem Ablauf, und Sie verlängern selbst.",
		"Optional. For this, our payment provider saves the payment method that you pay with now. Without it, we email you before a domain expires, and you renew it yourself.",
	},
	"renew.stored": {"Bisher gespeichert: {1}.", "Saved so far: {1}."},

	"consent.heading": {"Sofortiger Beginn", "Immediate start"},
	"consent.given":   {"ausdrücklich verlangt am", "expressly requested on"},
	"consent.words":   {"Wortlaut", "Full wording"},

	"decline.title": {"Bestellung ablehnen?", "Decline this order?"},
	"decline.text": {
		"Es wird nichts abgebucht und nichts registriert. Möchten Sie diese Domains später doch, bestellen Sie neu.",
		"Nothing will be charged or registered. If you want these domains later, you need to place a new order.",
	},
	"decline.submit": {"Ja, ablehnen", "Yes, decline"},
	"decline.back":   {"Zurück zur Bestellung", "Back to the order"},

	"verify.title": {"Identität nachweisen", "Verify your identity"},
	"verify.none": {
		"Für Ihre Bestellung müssen Sie einmal Ihre Identität nachweisen.",
		"Your order requires you to verify your identity once.",
	},
	"verify.open": {
		"Die Prüfung läuft. Das Ergebnis erscheint hier.",
		"The verification has started. The result will appear here.",
	},
	"verify.failed": {
		"Die Prüfung war nicht erfolgreich. Sie können es noch einmal versuchen.",
		"The verification failed. You can try again.",
	},
	"verify.verified":   {"Ihre Identität ist nachgewiesen. Vielen Dank.", "Your identity is verified. Thank you."},
	"verify.not_needed": {"Für diese Bestellung ist kein Nachweis nötig.", "This order requires no verification."},
	"verify.failure.name_mismatch": {
		"Der Name im Ausweis weicht vom Namen des Domaininhabers ab. Berichtigen Sie den Domaininhaber im Profil, oder verwenden Sie ein anderes Dokument.",
		"The name in the document differs from the domain holder's. Correct the domain holder in your profile, or use another document.",
	},
	"verify.failure.other": {
		"Das Dokument wurde nicht akzeptiert. Achten Sie auf gutes Licht, und verwenden Sie einen gültigen Ausweis oder Pass.",
		"The document was not accepted. Make sure the light is good, and use a valid ID card or passport.",
	},
	"verify.how.heading": {"So funktioniert es", "How it works"},
	"verify.how": {
		"Unser Zahlungsdienst prüft einen Ausweis oder Pass. Sie brauchen dafür eine Kamera, zum Beispiel im Telefon. Wir erfahren nur, ob es geklappt hat und welcher Name im Dokument steht.",
		"Our payment provider checks an ID card or passport. You need a camera, such as the one in your phone. We only learn whether the check succeeded and which name the document shows.",
	},
	"verify.name": {
		"Im Dokument muss der Name stehen, den Sie beim Domaininhaber unter „Name“ angegeben haben, auch wenn eine Firma Inhaberin ist.",
		"The document must show the name entered for the domain holder under “Name”, even if a company owns the domain.",
	},
	"verify.submit":   {"Prüfung starten", "Start verification"},
	"verify.continue": {"Prüfung fortsetzen", "Continue verification"},
	"verify.again":    {"Noch einmal versuchen", "Try again"},
	"verify.pay":      {"Zur Bestellung", "View order"},
	"verify.other": {
		"Sie sind als {1} angemeldet. Diese Prüfung gehört zu einem anderen Konto.",
		"You are signed in as {1}. This verification belongs to another account.",
	},
	"verify.sign_in": {
		"Melden Sie sich mit dem Konto der Bestellung an, um Ihre Identität nachzuweisen.",
		"Sign in to the account that placed the order to verify your identity.",
	},

	"orders.title":   {"Bestellungen", "Orders"},
	"orders.none":    {"Sie haben noch nichts bestellt.", "You haven't ordered anything yet."},
	"orders.when":    {"Datum", "Date"},
	"orders.what":    {"Inhalt", "Items"},
	"table.do":       {"Aktion", "Action"},
	"orders.more":    {"und {1} weitere", "and {1} more"},
	"orders.pay":     {"Bezahlen", "Pay"},
	"orders.confirm": {"Beauftragen", "Confirm"},
	"orders.older":   {"Ältere Bestellungen", "Older orders"},
	"orders.newest":  {"Neueste Bestellungen", "Newest orders"},
	"order.title":    {"Bestellung", "Order"},
	"order.pay":      {"Zur Bestellseite", "Go to order page"},
	"order.back":     {"Alle Bestellungen", "All orders"},

	"state.awaiting_verification": {"Identität nicht nachgewiesen", "identity not verified"},
	"state.awaiting_payment":      {"wartet auf Ihre Zahlung", "awaiting payment"},
	"state.free":                  {"wartet auf Ihre Zustimmung", "awaiting your confirmation"},
	"state.paying":                {"Zahlung läuft", "payment in progress"},
	"state.provisioning":          {"wird ausgeführt", "processing"},
	"state.completed":             {"ausgeführt", "completed"},
	"state.partially_completed":   {"teilweise ausgeführt", "partly completed"},
	"state.failed":                {"nicht ausgeführt", "failed"},
	"state.canceled":              {"storniert", "canceled"},
	"state.expired":               {"abgelaufen", "expired"},

	"invoices.title": {"Rechnungen", "Invoices"},
	"invoices.all":   {"Alle Rechnungen", "All invoices"},
	"invoices.none":  {"Sie haben noch keine Rechnungen.", "You have no invoices yet."},
	"invoices.hint": {
		"Das PDF enthält die lesbare Rechnung und die Daten der E-Rechnung; die XML-Datei enthält nur die Daten.",
		"The PDF contains the readable invoice and the e-invoice data; the XML file contains the data only.",
	},
	"invoices.waiting":   {"Die Rechnung wird gerade ausgestellt.", "The invoice is being issued."},
	"invoices.number":    {"Nummer", "Number"},
	"invoices.day":       {"Datum", "Date"},
	"invoices.kind":      {"Art", "Type"},
	"invoices.to_order":  {"Ansehen", "View"},
	"invoices.files":     {"Dateien", "Files"},
	"invoices.pdf":       {"{1} als PDF", "{1} as PDF"},
	"invoices.xml":       {"{1} als XML", "{1} as XML"},
	"invoices.corrects":  {"zu {1}", "for {1}"},
	"invoices.older":     {"Ältere Rechnungen", "Older invoices"},
	"invoices.newest":    {"Neueste Rechnungen", "Newest invoices"},
	"invoice.kind":       {"Rechnung", "Invoice"},
	"invoice.correction": {"Rechnungskorrektur", "Credit note"},

	"refunds.heading": {"Erstattungen", "Refunds"},
	"refunds.due":     {"{1}: unterwegs", "{1}: on its way"},
	"refunds.made":    {"{1}: erstattet am {2}", "{1}: refunded on {2}"},

	"note.ordered":          {"Ihre Bestellung ist eingegangen.", "Your order has been placed."},
	"note.declined":         {"Sie haben die Bestellung abgelehnt.", "You declined the order."},
	"note.code_saved":       {"Der Auth-Code ist gespeichert.", "The auth code is saved."},
	"note.registrant_saved": {"Die Angaben sind gespeichert.", "The details are saved."},
	"note.signed_out":       {"Sie sind abgemeldet.", "You are signed out."},

	"problem.price_changed": {
		"Der Preis oder die Steuer hat sich gerade geändert. Abgebucht wurde nichts. Bitte prüfen Sie den neuen Betrag.",
		"The price or the tax has just changed. Nothing was charged. Please check the new total.",
	},
	"problem.renewal_changed": {
		"Der Preis oder der Text der automatischen Verlängerung hat sich gerade geändert. Bestellt und abgebucht wurde nichts. Bitte prüfen Sie beides noch einmal.",
		"The price or the text of automatic renewal has just changed. Nothing was ordered or charged. Please check both again.",
	},
	"problem.consent_missing": {
		"Ohne Ihr Einverständnis können wir nicht sofort beginnen. Bitte kreuzen Sie das Kästchen an. Bestellt und abgebucht wurde nichts.",
		"We can't start immediately without your consent. Please tick the box. Nothing was ordered or charged.",
	},
	"problem.data_missing": {
		"Es fehlen noch Angaben. Abgebucht wurde nichts.",
		"Some details are still missing. Nothing was charged.",
	},
	"problem.items_refused": {
		"Einige Artikel sind nicht mehr verfügbar. Der Grund steht bei der Domain. Abgebucht wurde nichts.",
		"Some items are no longer available. The reason is shown next to the domain. Nothing was charged.",
	},
	"problem.not_your_order": {
		"Diese Bestellung gehört zu einem anderen Konto. Abgebucht wurde nichts.",
		"This order belongs to another account. Nothing was charged.",
	},
	"problem.order_not_open": {
		"Das geht gerade nicht: Eine Zahlung läuft, oder die Bestellung ist abgeschlossen.",
		"This isn't possible right now: a payment is in progress, or the order is closed.",
	},
	"problem.name_held": {
		"Diese Domain ist inzwischen vergeben. Abgebucht wurde nichts.",
		"This domain has been taken in the meantime. Nothing was charged.",
	},
	"problem.auth_code_missing": {"Bitte geben Sie den Auth-Code ein.", "Please enter the auth code."},
	"problem.auth_code_wrong": {
		"Dieser Auth-Code ist falsch. Prüfen Sie ihn, oder fordern Sie beim Anbieter einen neuen an.",
		"This auth code is wrong. Check it, or ask your provider for a new one.",
	},
	"problem.over_names_budget": {
		"Zu viele Abfragen in kurzer Zeit. Abgebucht wurde nichts. Bitte warten Sie ein paar Minuten und versuchen Sie es dann noch einmal.",
		"Too many requests in a short time. Nothing was charged. Please wait a few minutes and try again.",
	},
	"problem.auth_codes": {
		"Zu viele Versuche. Bitte versuchen Sie es in einer Stunde noch einmal.",
		"Too many attempts. Please try again in an hour.",
	},
	"problem.bad_auth_code": {
		"Das ist kein gültiger Auth-Code: Er hat höchstens 100 Zeichen, ohne Umlaute.",
		"This isn't a valid auth code: use at most 100 ASCII characters.",
	},
	"problem.not_a_transfer": {"Dieser Posten braucht keinen Auth-Code.", "This item needs no auth code."},
	"problem.payment_refused": {
		"Der Zahlungsdienst hat die Zahlung nicht angenommen. Abgebucht wurde nichts. Bitte versuchen Sie es später noch einmal.",
		"The payment provider did not accept the payment. Nothing was charged. Please try again later.",
	},
	"problem.unreachable": {
		"Der Zahlungsdienst oder die Registry antwortet gerade nicht. Bitte versuchen Sie es gleich noch einmal. Es wird nichts doppelt abgebucht.",
		"The payment provider or the registry isn't responding. Please try again in a moment. You won't be charged twice.",
	},
	"problem.identity_unreachable": {
		"Der Dienst für den Nachweis antwortet gerade nicht. Bitte versuchen Sie es gleich noch einmal.",
		"The identity verification service isn't responding. Please try again in a moment.",
	},

	"reason.name_taken":    {"Diese Domain ist vergeben.", "This domain is taken."},
	"reason.name_reserved": {"Die Registry hat diese Domain reserviert.", "The registry has reserved this domain."},
	"reason.availability_unknown": {
		"Die Registry hat nicht gesagt, ob diese Domain frei ist. Bitte versuchen Sie es später noch einmal.",
		"The registry didn't say whether this domain is available. Please try again later.",
	},
	"reason.name_held": {
		"Diese Domain ist vergeben oder wird gerade für eine andere Bestellung registriert.",
		"This domain is taken, or is being registered for another order.",
	},
	"reason.yours":      {"Diese Domain gehört Ihnen schon.", "You already own this domain."},
	"reason.yours.link": {"Zur\u00a0Domain", "View\u00a0domain"},
	"reason.name_premium": {
		"Diese Domain hat einen Sonderpreis und kann hier nicht bestellt werden.",
		"This domain has a special price and can't be ordered here.",
	},
	"reason.not_eligible": {
		"Die Bedingungen dieser Endung sind nicht erfüllt.",
		"You don't meet the requirements of this extension.",
	},
	"reason.registrant_missing": {"Es fehlen Angaben zum Domaininhaber.", "The domain holder's details are missing."},
	"reason.auth_code_missing":  {"Es fehlt der Auth-Code.", "The auth code is missing."},
	"reason.no_registry_account": {
		"Diese Endung können Sie hier zurzeit nicht bestellen.",
		"This extension can't be ordered here at the moment.",
	},
	"reason.rule_unmet": {
		"Diese Endung können Sie hier nur abfragen. Den Nachweis, den die Registry verlangt, können wir nicht übermitteln.",
		"You can only look up this extension here: we can't submit the proof that its registry requires.",
	},
	"reason.transfer_not_offered": {
		"Bei dieser Endung startet nur Ihr bisheriger Anbieter den Umzug. Hier können Sie ihn nicht bestellen.",
		"Only your current provider can start a transfer of this extension. You can't order it here.",
	},
	"reason.no_price": {
		"Für diese Endung haben wir keinen Preis. Sie können sie zurzeit nicht bestellen.",
		"We have no price for this extension, so it can't be ordered at the moment.",
	},
	"reason.orders_not_served": {"Zurzeit nehmen wir keine Bestellungen an.", "We aren't taking orders at the moment."},
	"reason.not_registered": {
		"Diese Domain ist nicht registriert und kann deshalb nicht umziehen.",
		"This domain isn't registered, so it can't be transferred.",
	},
	"reason.transfer_locked": {
		"Diese Domain ist bei Ihrem bisherigen Anbieter gesperrt. Lassen Sie die Sperre dort zuerst aufheben.",
		"This domain is locked at your current provider. Have it unlocked there first.",
	},
	"reason.auth_code_wrong": {"Der Auth-Code ist falsch.", "The auth code is wrong."},
	"reason.not_your_domain": {"Sie können nur eigene Domains verlängern.", "You can only renew your own domains."},
	"reason.domain_barred": {
		"Diese Domain ist wegen eines laufenden Verfahrens gesperrt. Bitte wenden Sie sich an uns.",
		"This domain is locked because of a dispute. Please contact us.",
	},
	"reason.not_restorable": {
		"Diese Domain lässt sich nicht (mehr) wiederherstellen.",
		"This domain can't be restored, or can't be restored any more.",
	},
	"reason.not_renewable": {
		"Die Registry verlängert diese Domain zurzeit nicht.",
		"The registry can't renew this domain at the moment.",
	},
	"reason.bad_term": {"Diese Laufzeit bietet die Registry nicht an.", "The registry does not offer this term."},
	"reason.registry_billing": {
		"Die Registry hat den Auftrag nicht angenommen. Das liegt an uns.",
		"The registry didn't accept the order. This is our fault.",
	},
	"reason.registry_denied":    {"Die Registry hat den Auftrag abgelehnt.", "The registry rejected the order."},
	"reason.registry_gone":      {"Die Domain gibt es bei der Registry nicht mehr.", "The domain no longer exists at the registry."},
	"reason.registry_elsewhere": {"Die Domain liegt bei einem anderen Anbieter.", "This domain is with another provider."},
	"reason.other":              {"Das hat nicht funktioniert.", "This didn't work."},

	"pay.unclaimed.heading": {"Noch keinem Konto zugeordnet", "Not assigned to an account yet"},
	"pay.unclaimed": {
		"Ein Programm hat diese Bestellung für {1} aufgegeben. Wir schicken einen Link an diese Adresse. Damit ordnen Sie die Bestellung einem Konto zu; danach können Sie sie hier bezahlen und verwalten.",
		"An agent placed this order for {1}. We send a link to that address. Use it to add the order to an account; then you can pay and manage it here.",
	},
	"pay.unclaimed.button": {"Link schicken", "Send link"},
	"pay.unclaimed.no_customer": {
		"Ein Programm hat diese Bestellung aufgegeben und noch keinen Kunden genannt.",
		"An agent placed this order and hasn't named the customer yet.",
	},
	"asked.agent": {"einem Einkaufsprogramm", "a shopping agent"},
	"claim.title": {"Bestellung übernehmen", "Claim your order"},
	"claim.intro": {
		"Ein Programm hat diese Bestellung für Sie aufgegeben. Sie gehört noch keinem Konto:",
		"An agent placed this order for you. It doesn't belong to an account yet:",
	},
	"claim.account": {
		"Sie sind als {1} angemeldet. Die Bestellung und ihre Domains werden diesem Konto zugeordnet.",
		"You are signed in as {1}. The order and its domains will be added to this account.",
	},
	"claim.submit": {"In dieses Konto übernehmen", "Add to this account"},
	"claim.sign_in": {
		"Melden Sie sich an, oder legen Sie ein Konto an. Öffnen Sie danach den Link aus der E-Mail noch einmal.",
		"Sign in, or create an account and then open the link in the email again.",
	},
	"problem.requires_identity": {
		"Diese Bestellung enthält eine Endung, bei der wir die Identität des Inhabers prüfen. Der Name in Ihrem Konto ist nicht geprüft. Es wurde nichts übernommen.",
		"This order contains an extension for which we verify the holder's identity. The name in your account is not verified. Nothing was added to your account.",
	},
	"problem.no_such_claim": {
		"Dieser Link ist abgelaufen, oder die Bestellung gehört schon zu einem Konto. Auf der Bestellseite können Sie einen neuen anfordern.",
		"This link has expired, or the order already belongs to an account. You can request a new link on the order page.",
	},
	"note.claimed": {"Die Bestellung gehört jetzt zu Ihrem Konto.", "The order now belongs to your account."},
	"note.claim_asked": {
		"Wir schicken den Link jetzt, sofern nicht gerade einer unterwegs ist.",
		"We are sending the link, unless we sent one in the last few minutes.",
	},

	"basket.title":     {"Warenkorb", "Basket"},
	"basket.items":     {"Ihre Auswahl", "Your selection"},
	"basket.later":     {"danach {1} pro Jahr", "then {1} per year"},
	"basket.remove":    {"Entfernen", "Remove"},
	"basket.remove_of": {"Entfernen: {1}", "Remove {1}"},
	"basket.vat": {
		"Berechnet mit {1} deutscher Umsatzsteuer. Ihr Steuersatz hängt von Ihrer Anschrift ab; Sie sehen ihn im nächsten Schritt, bevor Sie bestellen.",
		"Calculated with {1} German VAT. Your rate depends on your address; you see it in the next step, before you order.",
	},
	"basket.order": {"Weiter zur Kasse", "Continue to checkout"},
	"basket.then": {
		"Wir prüfen jetzt bei den Registries, ob alles verfügbar ist. Sie bestellen und bezahlen noch nichts.",
		"We now check with the registries whether everything is available. You don't order or pay yet.",
	},
	"basket.sign_in":  {"Anmelden und weiter", "Sign in and continue"},
	"basket.register": {"Konto anlegen", "Create account"},
	"basket.guest": {
		"Für eigene Domains brauchen Sie ein Konto. Ihr Warenkorb bleibt in diesem Browser erhalten.",
		"You need an account to own domains. Your basket stays in this browser.",
	},
	"basket.empty":            {"Ihr Warenkorb ist leer.", "Your basket is empty."},
	"basket.open":             {"Sie haben eine offene Bestellung:", "You have an open order:"},
	"basket.open.link":        {"ansehen und bezahlen", "view and pay"},
	"basket.search":           {"Domain suchen", "Search for a domain"},
	"basket.more":             {"Weitere Domain suchen", "Search for another domain"},
	"basket.transfer.heading": {"Domain zu uns umziehen", "Transfer a domain to us"},
	"basket.transfer.text": {
		"Sie haben schon eine Domain bei einem anderen Anbieter? Den Auth-Code tragen Sie an der Kasse ein.",
		"Already have a domain with another provider? You enter its auth code at checkout.",
	},
	"basket.transfer.label":  {"Domain, zum Beispiel meine-firma.de", "Domain, for example my-company.com"},
	"basket.transfer.submit": {"Umzug in den Warenkorb", "Add transfer to basket"},
	"basket.collected":       {"Im Korb ✓", "In basket ✓"},
	"basket.now":             {"{1} liegt im Warenkorb. Er enthält jetzt {2}.", "{1} is in your basket. It now contains {2}."},
	"basket.refused": {
		"Einige Artikel sind nicht verfügbar. Entfernen Sie sie, um fortzufahren. Bestellt wurde nichts.",
		"Some items aren't available. Remove them to continue. Nothing was ordered.",
	},
	"basket.unreachable": {
		"Die Registry antwortet gerade nicht. Bitte versuchen Sie es gleich noch einmal.",
		"The registry isn't responding. Please try again in a moment.",
	},
	"problem.basket_full": {
		"Der Warenkorb ist voll. Bestellen Sie zuerst, was darin liegt.",
		"Your basket is full. Order its items first.",
	},
	"problem.basket_asks": {
		"Zu viele Versuche. Bitte versuchen Sie es in {1} noch einmal.",
		"Too many attempts. Please try again in {1}.",
	},
	"problem.basket_name": {
		"Diese Domain kann nicht umziehen. Geben Sie sie mit Endung an, zum Beispiel meine-firma.de.",
		"This name can't be transferred. Enter it with its extension, for example my-company.com.",
	},
	"problem.basket_extension": {"Diese Endung führen wir nicht.", "We don't offer this extension."},
	"problem.basket_upstream": {
		"Die Registry antwortet gerade nicht. Bestellt wurde nichts. Bitte versuchen Sie es gleich noch einmal.",
		"The registry isn't responding. Nothing was ordered. Please try again in a moment.",
	},
	"problem.too_many_open_orders": {
		"Sie haben zu viele offene Bestellungen. Bitte bezahlen Sie eine, oder lehnen Sie eine ab.",
		"You have too many open orders. Please pay or decline one.",
	},
	"note.confirmed": {"Ihr Konto ist bereit. Sie können jetzt bestellen.", "Your account is ready. You can order now."},

	"pay.law":                 {"Für die Bestellung gelten:", "This order is subject to:"},
	"pay.law.terms.path":      {"/agb", "/terms"},
	"pay.law.withdrawal.path": {"/widerruf", "/withdrawal"},
	"pay.law.terms":           {"AGB", "terms"},
	"pay.law.privacy":         {"Datenschutz", "privacy policy"},
	"pay.law.withdrawal":      {"Widerrufsrecht", "right of withdrawal"},
	"pay.law.privacy.path":    {"/datenschutz", "/privacy"},
}, "problem.", [2]string{
	"Diese Bestellung enthält eine Endung, die {holders} vorbehalten ist. Ihr Konto hat eine andere Anschrift. Melden Sie sich mit einem passenden Konto an. Es wurde nichts übernommen.",
	"This order contains an extension reserved for {holders}. Your account has a different address. Sign in to an account that qualifies. Nothing was added to your account.",
})
