package checkout

import "github.com/dotkontor/dotkontor/internal/web/ui"

// problemTexts are chosen by a code: why a request or an item was refused, notes, VAT
// rules, and warnings about similar names.
var problemTexts = ui.WithRegistrantProblems(ui.WithRequirements(ui.WithRequirements(ui.Texts{
	"vat.domestic": {"Mit deutscher Umsatzsteuer.", "Includes German VAT."},
	"vat.unknown_country": {
		"Mit deutscher Umsatzsteuer, weil wir Ihr Land noch nicht kennen. Das kann sich mit Ihrer Anschrift ändern.",
		"Includes German VAT, because we don't know your country yet. This may change once you enter your address.",
	},
	"vat.incomplete": {
		"Mit deutscher Umsatzsteuer, solange Ihre Angaben nicht vollständig sind. Den Betrag mit Ihrer Anschrift sehen Sie, bevor Sie bezahlen.",
		"Includes German VAT until your details are complete. You see the amount for your address before you pay.",
	},
	"vat.outside_eu": {
		"Ohne Umsatzsteuer: Bei Ihrer Anschrift fällt keine deutsche Umsatzsteuer an.",
		"No VAT: with your address, no German VAT is due.",
	},
	"vat.reverse_charge": {
		"Ihre Umsatzsteuer-ID {1} ist bestätigt. Wir berechnen keine Umsatzsteuer: Steuerschuldnerschaft des Leistungsempfängers (Reverse Charge).",
		"Your VAT ID {1} is confirmed. We charge no VAT: it is payable by the recipient (reverse charge).",
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
	"warning.expiring": {
		"Sie haben gewählt, {1} auslaufen zu lassen. Wenn Sie jetzt bezahlen, gilt das nicht mehr; für das neue Ende der Laufzeit können Sie neu wählen.",
		"You chose to let {1} expire. If you pay now, that no longer applies; you can choose again for the new end of the term.",
	},
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
		"Careful, this extension is easily mistaken for another one. Did you mean {1}?",
	},

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

	"note.ordered":          {"Ihre Bestellung ist eingegangen.", "Your order has been placed."},
	"note.declined":         {"Die Bestellung ist storniert.", "The order is cancelled."},
	"note.item_removed":     {"Die Domain ist aus der Bestellung entfernt.", "The domain is removed from the order."},
	"note.code_saved":       {"Der Auth-Code ist gespeichert.", "The auth code is saved."},
	"note.registrant_saved": {"Die Angaben sind gespeichert.", "The details are saved."},
	"note.session_lost":     {"Ihre Sitzung ist beendet. Es wurde nichts bestellt und nichts abgebucht.", "Your session has ended. Nothing was ordered or charged."},
	"note.signed_out":       {"Sie sind abgemeldet.", "You are signed out."},
	"note.claimed":          {"Die Bestellung gehört jetzt zu Ihrem Konto.", "The order now belongs to your account."},
	"note.claim_asked": {
		"Wir schicken den Link jetzt, sofern nicht gerade einer unterwegs ist.",
		"We are sending the link, unless we sent one in the last few minutes.",
	},

	"problem.term_paid": {
		"Mindestens eine Domain dieser Bestellung wurde inzwischen verlängert. Abgebucht wurde nichts. Entfernen Sie sie bitte aus der Bestellung.",
		"At least one domain in this order has been renewed in the meantime. Nothing was charged. Please remove it from the order.",
	},
	"problem.payment_open_elsewhere": {
		"Mindestens eine dieser Domains verlängern Sie gerade mit einer anderen Bestellung. Hier wurde nichts abgebucht. Schließen Sie die andere Zahlung unter „Bestellungen“ ab oder brechen Sie sie dort ab.",
		"You are already renewing at least one of these domains with another order. Nothing was charged here. Finish or cancel the other payment under “Orders”.",
	},
	"reason.term_paid": {
		"Diese Domain wurde inzwischen verlängert. Sie müssen nichts mehr bezahlen.",
		"This domain has been renewed in the meantime. You don't need to pay again.",
	},
	"problem.price_changed": {
		"Der Preis oder die Steuer hat sich gerade geändert. Abgebucht wurde nichts. Bitte prüfen Sie den neuen Betrag.",
		"The price or the tax has just changed. Nothing was charged. Please check the new total.",
	},
	"problem.tax_lower": {
		"Mit Ihrer Anschrift ändert sich die Umsatzsteuer: Sie zahlen jetzt {1} statt {2}. Abgebucht wurde noch nichts. Bitte prüfen Sie den Betrag, und bestellen Sie dann noch einmal.",
		"Your address changes the VAT: you now pay {1} instead of {2}. Nothing was charged yet. Please check the total, then place the order again.",
	},
	"problem.tax_higher": {
		"Mit Ihrer Anschrift ändert sich die Umsatzsteuer: Die Bestellung kostet jetzt {1} statt {2}. Abgebucht wurde nichts. Weil der Betrag höher ist, bestätigen Sie bitte alles noch einmal.",
		"Your address changes the VAT: the order now costs {1} instead of {2}. Nothing was charged. Because the total is higher, please confirm everything again.",
	},
	"problem.vat_not_confirmed": {
		"Das europäische Verzeichnis (VIES) bestätigt Ihre Umsatzsteuer-ID {1} nicht. Deshalb berechnen wir Umsatzsteuer; der Gesamtbetrag ist {2}. Abgebucht wurde nichts. Sie können so bestellen oder Ihre Angaben ändern.",
		"The EU register (VIES) doesn't confirm your VAT ID {1}. That is why we charge VAT; the total is {2}. Nothing was charged yet. You can order like this or change your details.",
	},
	"problem.vat_other_country": {
		"Ihre Umsatzsteuer-ID {1} gehört zu einem anderen Land als Ihre Anschrift. Deshalb berechnen wir Umsatzsteuer; der Gesamtbetrag ist {2}. Abgebucht wurde nichts. Sie können so bestellen oder Ihre Angaben ändern.",
		"Your VAT ID {1} belongs to another country than your address. That is why we charge VAT; the total is {2}. Nothing was charged yet. You can order like this or change your details.",
	},
	"problem.vat_unchecked": {
		"Ihre Umsatzsteuer-ID {1} lässt sich gerade nicht prüfen. Deshalb berechnen wir Umsatzsteuer; der Gesamtbetrag ist {2}. Abgebucht wurde nichts. Sie können so bestellen oder es später noch einmal versuchen.",
		"We can't check your VAT ID {1} right now. That is why we charge VAT; the total is {2}. Nothing was charged yet. You can order like this or try again later.",
	},
	"problem.items_changed": {
		"Diese Bestellung enthält inzwischen etwas anderes, als die Seite gezeigt hat. Abgebucht wurde nichts. Bitte prüfen Sie sie noch einmal.",
		"This order has changed since the page was opened. Nothing was charged. Please check it again.",
	},
	"problem.notice_open": {
		"Zu einer der Domains ist eine Kündigung oder ein Widerruf eingegangen. Solange wir das bearbeiten, lässt sie sich nicht automatisch verlängern. Abgebucht wurde nichts. Bitte prüfen Sie die Bestellung noch einmal.",
		"You have cancelled or withdrawn from the contract for one of the domains. While we are handling that, automatic renewal can't be turned on for it. Nothing was charged. Please check the order again.",
	},
	"problem.renewal_changed": {
		"Der Preis oder der Text der automatischen Verlängerung hat sich gerade geändert. Abgebucht wurde nichts. Bitte prüfen Sie beides noch einmal.",
		"The price or the text of automatic renewal has just changed. Nothing was charged. Please check both again.",
	},
	"problem.consent_missing": {
		"Ohne Ihr Einverständnis können wir nicht sofort beginnen. Bitte kreuzen Sie das Kästchen an. Abgebucht wurde nichts.",
		"We can't start immediately without your consent. Please tick the box. Nothing was charged.",
	},
	"problem.registrant_known": {
		"Ihr Konto hat schon Angaben zum Domaininhaber. Bitte prüfen Sie sie. Abgebucht wurde nichts.",
		"Your account already has domain holder details. Please check them. Nothing was charged.",
	},
	"problem.data_missing": {
		"Es fehlen noch Angaben. Abgebucht wurde nichts.",
		"Some details are still missing. Nothing was charged.",
	},
	"problem.items_refused": {
		"Mindestens eine Domain lässt sich nicht mehr bestellen. Der Grund steht bei der Domain. Abgebucht wurde nichts.",
		"Some items are no longer available. The reason is shown next to the domain. Nothing was charged.",
	},
	"problem.not_your_order": {
		"Diese Bestellung gehört zu einem anderen Konto. Abgebucht wurde nichts.",
		"This order belongs to another account. Nothing was charged.",
	},
	"problem.order_not_open": {
		"Das geht gerade nicht: Eine Zahlung läuft, oder die Bestellung ist nicht mehr offen.",
		"This isn't possible right now: a payment is in progress, or the order is closed.",
	},
	"problem.renewal_in_progress": {
		"Diese Domain wird gerade automatisch verlängert. Abgebucht wurde hier nichts. Bitte sehen Sie in einigen Minuten nach.",
		"This domain is being renewed automatically right now. Nothing was charged here. Please check again in a few minutes.",
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
	"problem.auth_code_wrong_locked": {
		"Dieser Auth-Code ist falsch, und die Domain hat eine Umzugssperre. Lassen Sie sich vom bisherigen Anbieter einen neuen Code geben und die Sperre aufheben.",
		"This auth code is wrong, and the domain has a transfer lock. Ask your current provider for a new code and have them remove the lock.",
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
		"This isn't a valid auth code: it has at most 100 characters and no accents.",
	},
	"problem.holder_fixed": {"Bei dieser Position können Sie keinen Inhaber wählen.", "This item has no choice of holder."},
	"problem.no_such_holder": {
		"Diesen Inhaber gibt es in Ihrem Konto nicht mehr. Bitte wählen Sie einen anderen.",
		"This holder is no longer in your account. Please choose another one.",
	},
	"problem.not_a_transfer": {"Diese Position braucht keinen Auth-Code.", "This item needs no auth code."},
	"problem.payment_refused": {
		"Der Zahlungsdienst hat die Zahlung nicht angenommen. Abgebucht wurde nichts. Bitte versuchen Sie es später noch einmal.",
		"The payment provider did not accept the payment. Nothing was charged. Please try again later.",
	},
	"problem.too_many_open_orders": {
		"Sie haben zu viele offene Bestellungen. Bitte bezahlen oder verwerfen Sie eine.",
		"You have too many open orders. Please pay or discard one.",
	},
	"problem.requires_identity": {
		"Diese Bestellung enthält eine Endung, bei der wir die Identität des Inhabers prüfen. Der Name in Ihrem Konto ist nicht geprüft. Es wurde nichts übernommen.",
		"This order contains an extension for which we verify the holder's identity. The name in your account is not verified. Nothing was added to your account.",
	},
	"problem.no_such_claim": {
		"Dieser Link ist abgelaufen, oder die Bestellung gehört schon zu einem Konto. Auf der Bestellseite können Sie einen neuen anfordern.",
		"This link has expired, or the order already belongs to an account. You can request a new link on the order page.",
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
	"reason.availability_unknown.transfer": {
		"Die Registry hat nicht gesagt, ob diese Domain registriert ist. Bitte versuchen Sie es später noch einmal.",
		"The registry didn't say whether this domain is registered. Please try again later.",
	},
	"reason.renewal_in_progress": {
		"Diese Domain wird gerade automatisch verlängert.",
		"This domain is being renewed automatically right now.",
	},
	"reason.name_held": {
		"Diese Domain ist vergeben oder wird gerade für eine andere Bestellung registriert.",
		"This domain is taken, or is being registered for another order.",
	},
	"reason.transfer_held": {
		"Diese Domain ist schon bei uns oder zieht gerade mit einer anderen Bestellung um.",
		"This domain is with us already, or another order is transferring it.",
	},
	"reason.transferring": {"Diese Domain zieht schon zu uns um.", "This domain is already being transferred to us."},
	"reason.ordered":      {"Diese Domain haben Sie schon bestellt. Wir richten sie gerade ein.", "You have already ordered this domain. We are setting it up."},
	"reason.yours":        {"Diese Domain gehört Ihnen schon.", "You already own this domain."},
	"reason.yours.link":   {"Zur\u00a0Domain", "View\u00a0domain"},
	"reason.name_premium": {
		"Die Registry verlangt für diese Domain einen Sonderpreis, den wir nicht anbieten können.",
		"The registry charges a special price for this domain, which we can't offer.",
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
		"Einen Auth-Code brauchen Sie hier nicht: Bei dieser Endung startet nur Ihr bisheriger Anbieter den Umzug, bei .uk mit dem IPS-Tag. Bestellen können Sie ihn bei uns nicht. Fragen Sie uns, bevor Ihr Anbieter etwas ändert.",
		"You need no auth code: only your current provider can start a transfer of this extension, with .uk by its IPS tag. You can't order it here. Ask us before your provider changes anything.",
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
		"Diese Domain ist bei ihrem Anbieter für Umzüge gesperrt. Gehört sie Ihnen, heben Sie die Sperre zuerst dort auf. In den ersten 60 Tagen nach Registrierung oder Umzug geht das oft nicht.",
		"This domain has a transfer lock at its provider. If it is yours, have the lock removed there first. In the first 60 days after a registration or transfer they often can't do that.",
	},
	"reason.transfer_locked.no_lock": {
		"Die Registry lässt den Umzug dieser Domain zurzeit nicht zu. Gehört sie Ihnen, fragen Sie Ihren bisherigen Anbieter nach dem Grund.",
		"The registry doesn't allow this domain to be transferred at the moment. If it is yours, ask your current provider for the reason.",
	},
	"reason.auth_code_wrong": {"Der Auth-Code ist falsch.", "The auth code is wrong."},
	"reason.auth_code_wrong_locked": {
		"Der Auth-Code ist falsch, und die Domain hat eine Umzugssperre. Lassen Sie sich vom bisherigen Anbieter einen neuen Code geben und die Sperre aufheben. In den ersten 60 Tagen nach Registrierung oder Umzug geht das oft nicht.",
		"The auth code is wrong, and the domain has a transfer lock. Ask your current provider for a new code and have them remove the lock. In the first 60 days after a registration or transfer they often can't do that.",
	},
	"reason.auth_code_wrong_locked.no_lock": {
		"Der Auth-Code ist falsch, und die Registry lässt den Umzug dieser Domain zurzeit nicht zu. Fragen Sie Ihren bisherigen Anbieter nach dem Grund und nach einem neuen Code.",
		"The auth code is wrong, and the registry doesn't allow this domain to be transferred at the moment. Ask your current provider for the reason and for a new code.",
	},
	"reason.not_your_domain": {"Sie können nur eigene Domains verlängern.", "You can only renew your own domains."},
	"reason.domain_barred": {
		"Wegen einer Sperre lässt sich diese Domain zurzeit nicht verlängern. Bitte wenden Sie sich an uns.",
		"Because of a lock, this domain can't be renewed at the moment. Please contact us.",
	},
	"reason.not_restorable": {
		"Diese Domain lässt sich nicht (mehr) wiederherstellen.",
		"This domain can't be restored (any more).",
	},
	"reason.not_renewable": {
		"Die Registry verlängert diese Domain zurzeit nicht.",
		"The registry can't renew this domain at the moment.",
	},
	"reason.years_not_sold": {"Diese Laufzeit verkaufen wir nicht. Bitte wählen Sie im Warenkorb eine andere.", "We don't sell this term. Please choose another one in your basket."},
	"reason.bad_term":       {"Diese Laufzeit bietet die Registry nicht an.", "The registry does not offer this term."},
	"reason.given_up": {
		"Wir konnten den Auftrag bei der Registry nicht ausführen. Das liegt an uns.",
		"We could not execute this at the registry. That is our fault.",
	},
	"reason.registry_billing": {
		"Die Registry hat den Auftrag nicht angenommen. Das liegt an uns.",
		"The registry didn't accept the order. This is our fault.",
	},
	"reason.registry_fee_raised": {
		"Die Registry hat ihren Preis für diese Premium-Domain inzwischen erhöht.",
		"The registry has raised its price for this premium domain in the meantime.",
	},
	"reason.registry_locked": {
		"Die Registry hat den Auftrag abgelehnt, weil sie die Domain gegen solche Änderungen sperrt, etwa mit einer Umzugssperre, oder weil die Domain noch zu neu ist.",
		"The registry rejected the order because the domain has a lock there, such as a transfer lock, or is still too new.",
	},
	"reason.registry_denied": {"Die Registry hat den Auftrag abgelehnt.", "The registry rejected the order."},
	"reason.transfer_rejected": {
		"Ihr bisheriger Anbieter hat dem Umzug widersprochen. Fragen Sie dort nach dem Grund, und bestellen Sie den Umzug dann neu.",
		"Your current provider objected to the transfer. Ask them for the reason, then order the transfer again.",
	},
	"reason.registry_gone":      {"Die Domain gibt es bei der Registry nicht mehr.", "The domain no longer exists at the registry."},
	"reason.registry_elsewhere": {"Die Domain liegt bei einem anderen Anbieter.", "This domain is with another provider."},
	"reason.other":              {"Das hat nicht funktioniert.", "This didn't work."},
}, "rule.holder.", [2]string{
	"Diese Endung ist {holders} vorbehalten. Der gewählte Inhaber hat dort keine Anschrift.",
	"This extension is reserved for {holders}. The chosen holder has no address there.",
}), "problem.", [2]string{
	"Diese Bestellung enthält eine Endung, die {holders} vorbehalten ist. Ihr Konto hat eine andere Anschrift. Melden Sie sich mit einem passenden Konto an. Es wurde nichts übernommen.",
	"This order contains an extension reserved for {holders}. Your account has a different address. Sign in to an account that qualifies. Nothing was added to your account.",
}), "rule.")
