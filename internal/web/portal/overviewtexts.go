package portal

import "github.com/dotkontor/dotkontor/internal/web/ui"

// overviewTexts are the texts of the overview and of the page about agents.
var overviewTexts = ui.Texts{
	"overview.title": {"Übersicht", "Overview"},
	"overview.empty": {
		"Hier sehen Sie später, was zu tun ist: offene Bestellungen, laufende Umzüge und Domains, deren Laufzeit endet. Suchen Sie zuerst einen Namen.",
		"This page will show what needs your attention: open orders, transfers in progress and domains that expire soon. Start by searching for a name.",
	},
	"overview.nothing":     {"Im Moment ist nichts zu tun.", "Nothing needs your attention right now."},
	"overview.decide":      {"Das wartet auf Sie", "Waiting for you"},
	"overview.unpaid":      {"Unbezahlt", "Unpaid"},
	"overview.progress":    {"In Arbeit", "In progress"},
	"overview.expiring":    {"Laufzeit endet bald", "Expiring soon"},
	"overview.what":        {"Domain", "Domain"},
	"overview.state":       {"Stand", "Status"},
	"overview.until":       {"Bis", "By"},
	"overview.account":     {"Ihr Konto", "Your account"},
	"overview.more":        {"und {1} weitere", "and {1} more"},
	"more.decide":          {"{1} weitere Domains warten auf Ihre Entscheidung", "{1} more domains are waiting for your decision"},
	"more.progress":        {"{1} weitere Änderungen laufen", "{1} more changes in progress"},
	"more.expiring":        {"{1} weitere Domains laufen bald ab", "{1} more domains expire soon"},
	"more.orders":          {"{1} weitere offene Bestellungen", "{1} more open orders"},
	"overview.spent":       {"Ausgaben {1}", "Spending in {1}"},
	"overview.spent_total": {"Bisher {1}, Erstattungen abgezogen.", "{1} so far, refunds deducted."},
	"overview.ends":        {"Wann Laufzeiten enden", "When terms end"},
	"overview.ends_text":   {"Domains je Monat, in den nächsten zwölf Monaten.", "Domains per month over the next twelve months."},
	"overview.ends_later":  {"Später: {1}.", "Later: {1}."},
	"overview.table":       {"Als Tabelle", "As a table"},
	"overview.month":       {"Monat", "Month"},
	"overview.amount":      {"Betrag", "Amount"},
	"overview.domains":     {"Domains", "Domains"},

	"line.registrant": {
		"Die Angaben zum Domaininhaber fehlen.",
		"The domain holder's details are missing.",
	},
	"line.email": {
		"Bestätigen Sie die neue Adresse {1} mit dem Link in unserer E-Mail.",
		"Confirm your new address {1} with the link in our email.",
	},
	"line.undecided": {
		"Verlängern Sie die Domain, oder lassen Sie sie auslaufen.",
		"Renew the domain or let it expire.",
	},
	"line.verify": {
		"Vor der Bezahlung ({1}) müssen Sie Ihre Identität nachweisen.",
		"Verify your identity before you pay ({1}).",
	},
	"line.prepared": {
		"Vorbereitet von „{1}“: {2}. Bezahlen oder verwerfen Sie die Bestellung.",
		"Prepared by “{1}”: {2}. Pay or discard the order.",
	},
	"line.prepared.unnamed": {
		"Vorbereitet von einem Agenten: {1}. Bezahlen oder verwerfen Sie die Bestellung.",
		"Prepared by an agent: {1}. Pay or discard the order.",
	},
	"line.unpaid": {"Bestellung über {1}", "Order of {1}"},
	"line.unpaid.renewal": {
		"Die Verlängerung für {1} konnten wir nicht abbuchen.",
		"We couldn't charge the renewal of {1}.",
	},
	"line.charging":              {"Wir buchen die Verlängerung ab: {1}.", "We are charging the renewal: {1}."},
	"line.provisioning.register": {"Wird registriert.", "Being registered."},
	"line.provisioning.transfer": {"Der Umzug läuft.", "The transfer is in progress."},
	"line.provisioning.renew":    {"Wird verlängert.", "Being renewed."},
	"line.provisioning.restore":  {"Wird wiederhergestellt.", "Being restored."},
	"line.changing":              {"Eine Änderung läuft.", "A change is in progress."},
	"line.changing.nameservers":  {"Die Nameserver werden geändert.", "The nameservers are being changed."},
	"line.changing.ds_add":       {"Ein DS-Eintrag wird hinzugefügt.", "A DS record is being added."},
	"line.changing.ds_remove":    {"Ein DS-Eintrag wird entfernt.", "A DS record is being removed."},
	"line.changing.lock":         {"Die Domain wird für Umzüge gesperrt.", "The transfer lock is being set."},
	"line.changing.unlock":       {"Die Sperre für Umzüge wird aufgehoben.", "The transfer lock is being removed."},
	"line.changing.holder":       {"Die Inhaberdaten werden übernommen.", "The holder's details are being updated."},
	"do.registrant":              {"Angaben ergänzen", "Enter details"},
	"do.email":                   {"Neuen Link anfordern", "Request a new link"},
	"do.view":                    {"Ansehen", "View"},
	"do.decide":                  {"Entscheiden", "Decide"},
	"do.verify":                  {"Identität nachweisen", "Verify identity"},
	"do.review":                  {"Prüfen", "Review"},
	"do.pay":                     {"Bezahlen", "Pay"},

	"access.label": {"Wer für Sie handelt", "Who acts for you"},
	"access.all":   {"Alle Agenten", "All agents"},
	"agents.title": {"Agenten und Geld", "Agents and money"},
	"agents.intro": {
		"Hier sehen Sie alle Programme, die in Ihrem Auftrag handeln dürfen: verbundene Anwendungen, Ihre Zugangstoken und Checkout-Agenten.",
		"This page shows every program that may act on your behalf: connected applications, your access tokens and checkout agents.",
	},
	"agents.rules": {"Was Agenten dürfen", "What agents may do"},
	"agents.rule.pay": {
		"Anwendungen und Programme mit Token bereiten Bestellungen nur vor. Bezahlen können sie nicht: Das tun Sie im Browser.",
		"Applications and programs with a token only prepare orders. They can't pay: you do that in your browser.",
	},
	"agents.rule.card": {
		"Nur ein Checkout-Agent, den Sie hier verbinden, kann Ihre Bestellungen bezahlen, und zwar mit einer Zahlungsfreigabe, die Sie ihm gegeben haben. Ihre bei uns gespeicherten Zahlungsmittel kann kein Agent belasten.",
		"Only a checkout agent that you link here can pay for your orders, with a payment token that you gave it. No agent can charge the payment methods saved with us.",
	},
	"agents.rule.stop": {
		"Sie können jeden Zugang sofort beenden. Vorbereitete Bestellungen bleiben offen, bis Sie sie bezahlen oder verwerfen oder sie ablaufen.",
		"You can end any access at once. Prepared orders stay open until you pay or discard them or they expire.",
	},
	"agents.who":    {"Wer für Sie handelt", "Who acts for you"},
	"agents.none":   {"Niemand handelt in Ihrem Auftrag: Sie haben keinen Agenten verbunden.", "No one acts on your behalf: you haven't linked any agents."},
	"agents.name":   {"Agent", "Agent"},
	"agents.may":    {"Darf", "May"},
	"agents.orders": {"Bestellungen", "Orders"},
	"agents.orders_of": {
		"{1} vorbereitet, {2} bezahlt",
		"{1} prepared, {2} paid",
	},
	"agents.spent": {"Bezahlt bisher", "Paid so far"},
	"agents.spent_hint": {
		"Beträge inklusive USt., Erstattungen abgezogen.",
		"Amounts include VAT, refunds deducted.",
	},
	"agents.former": {
		"Beendete Zugänge: {1} Bestellungen vorbereitet, {2} bezahlt, zusammen {3}.",
		"Agents whose access has ended: {1} orders prepared, {2} paid, {3} in total.",
	},
	"agents.stop":     {"Stoppen", "Stop"},
	"agents.stop_one": {"{1} stoppen", "Stop {1}"},
	"agents.others":   {"Weitere Checkout-Agenten", "Other checkout agents"},
	"agents.meaning": {
		"Verbinden Sie nur einen Agenten, den Sie selbst benutzen. Er sieht dann Ihre Registrierungen und Umzüge und kann sie mit dem Geld bezahlen, das Sie ihm anvertraut haben.",
		"Only link an agent that you use yourself. It can then see your registrations and transfers and pay for them with the money you entrusted to it.",
	},
	"agents.again":    {"Zum Verbinden melden Sie sich bitte noch einmal an.", "To link an agent, sign in again first."},
	"agents.link":     {"Verbinden", "Link"},
	"agents.link_one": {"Agent {1} verbinden", "Link agent {1}"},

	"delegate.application": {"Anwendung", "Application"},
	"delegate.token":       {"Zugangstoken", "Access token"},
	"delegate.agent":       {"Checkout-Agent", "Checkout agent"},
	"delegate.may_write": {
		"Domains und Bestellungen lesen. Bestellungen nur vorbereiten, unbezahlte stornieren. Automatische Verlängerungen ausschalten.",
		"Read domains and orders. Only prepare orders, cancel unpaid ones. Turn off automatic renewals.",
	},
	"delegate.may_read": {
		"Nur abfragen, was jeder ohne Anmeldung abfragen kann.",
		"Only look up what anyone can look up without signing in.",
	},
	"delegate.may_pay": {
		"Bestellungen von Registrierungen und Umzügen lesen, bezahlen und stornieren. Domains und Konto kann er nicht ändern.",
		"Read, pay for and cancel orders of registrations and transfers. It can't change your domains or your account.",
	},

	"stop.title": {"Alle Agenten stoppen", "Stop all agents"},
	"stop.intro": {"Diese Zugänge enden sofort:", "This access ends immediately:"},
	"stop.after": {
		"Wer wieder für Sie handeln soll, braucht eine neue Verbindung oder ein neues Token. Offene Bestellungen bleiben bestehen; bezahlen oder verwerfen Sie sie unter „Bestellungen“.",
		"To let one of them act for you again, connect it again or create a new token. Open orders remain; pay or discard them under “Orders”.",
	},
	"stop.sure":   {"Ich möchte alle Zugänge beenden.", "I want to end all access."},
	"stop.unsure": {"Bitte setzen Sie das Häkchen, wenn Sie alle Agenten stoppen möchten.", "Please tick the box if you want to stop all agents."},
	"stop.back":   {"Zurück, ohne etwas zu beenden", "Back without ending anything"},
}
