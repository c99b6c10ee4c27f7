package operator

import "github.com/dotkontor/dotkontor/internal/web/ui"

// terminationTexts are those of the domains that a notice names, and of ending their contracts.
var terminationTexts = ui.Texts{
	"named.title":    {"Domains, die gemeint sein können", "Domains this may refer to"},
	"named.none":     {"Zurzeit hat hier kein Kunde eine Domain, die der Text nennt.", "No customer here currently holds a domain that the text mentions."},
	"named.term_end": {"Am Ende der Laufzeit", "At the end of the term"},
	"named.end.":     {"noch offen", "undecided"},

	"named.end.renew":  {"automatische Verlängerung", "automatic renewal"},
	"named.end.expire": {"läuft aus", "expires"},

	"named.sender":       {"Absender", "Sender"},
	"named.sender.same":  {"Adresse des Kontos", "the account's address"},
	"named.sender.other": {"andere Adresse als die des Kontos", "not the account's address"},
	"named.early": {
		"Die Laufzeit endet vor dem Tag, der in der Kündigung steht.",
		"The term ends before the day that the notice states.",
	},

	"named.later": {
		"Gewünscht ist ein früherer Tag. Der Vertrag endet erst mit der Laufzeit.",
		"An earlier day was requested. The contract ends with the term.",
	},

	"terminate.title":            {"Verträge beenden", "End contracts"},
	"terminate.choose":           {"Welche Verträge enden?", "Which contracts end?"},
	"terminate.one":              {"{1}, Laufzeit bis {2}", "{1}, term until {2}"},
	"terminate.default.ordinary": {"Zum Ende der bezahlten Laufzeit beendet, Bestätigung verschickt.", "Ended with the paid term, confirmation sent."},
	"terminate.default.extraordinary": {
		"Kein wichtiger Grund. Zum Ende der bezahlten Laufzeit beendet, Bestätigung verschickt.",
		"No good cause. Ended with the paid term, confirmation sent.",
	},
	"terminate.cause": {
		"Diese Kündigung ist aus wichtigem Grund und wirkt mit ihrem Eingang. Hier endet der Vertrag erst mit der bezahlten Laufzeit, und die E-Mail sagt, dass kein wichtiger Grund vorliegt. Liegt einer vor, erstatten Sie auf der Seite der Bestellung, und schließen Sie den Vorgang mit dem Tag, an dem der Vertrag geendet hat.",
		"This termination is for cause and takes effect when it is received. Here the contract ends only with the paid term, and the email says that there is no good cause. If there is one, refund on the order's page and close the case with the day on which the contract ended.",
	},
	"terminate.hint": {
		"Ein Vertrag endet ordentlich mit der bezahlten Laufzeit. Was sofort enden oder erstattet werden soll, entscheiden Sie auf der Seite der Bestellung.",
		"A contract normally ends with the paid term. Decide on the order's page what is to end at once or be refunded.",
	},
	"terminate.preview":   {"Kündigung {1} prüfen", "Review termination {1}"},
	"terminate.show":      {"Vorschau", "Preview"},
	"terminate.effects":   {"Das geschieht", "What happens"},
	"terminate.now":       {"Bisher", "So far"},
	"terminate.then":      {"Künftig", "From now on"},
	"terminate.ends_on":   {"läuft am {1} aus", "expires on {1}"},
	"terminate.off":       {"Automatische Verlängerungen dieser Domains enden sofort, angekündigte Abbuchungen entfallen.", "Automatic renewals of these domains end at once, and announced charges are dropped."},
	"terminate.mail":      {"Das Konto jeder Domain bekommt eine E-Mail mit dem Tag, an dem der Vertrag endet.", "The account of each domain gets an email with the day on which the contract ends."},
	"terminate.closes":    {"Der Vorgang ist danach erledigt.", "The case is closed afterwards."},
	"terminate.undo":      {"Der Kunde kann das im Portal bis zur Löschung zurücknehmen, Sie nicht.", "The customer can take it back in the portal until the deletion; you can't undo it."},
	"terminate.unmatched": {"Die Kündigung kam nicht von der Adresse des Kontos. Prüfen Sie, ob der Absender kündigen darf.", "The notice did not come from the account's address. Check that the sender may terminate."},
	"terminate.submit":    {"Verträge beenden", "End the contracts"},
	"terminate.back":      {"Zurück zur Kündigung", "Back to the notice"},

	"note.contracts_ended": {
		"Die Verträge enden mit ihrer Laufzeit. Die Bestätigung ist unterwegs, der Vorgang ist erledigt.",
		"The contracts end with their terms. The confirmation has been queued, and the case is closed.",
	},
	"problem.no_domain_chosen": {"Bitte wählen Sie mindestens eine Domain.", "Please choose at least one domain."},
	"problem.termination_changed": {
		"Eine der Domains hat sich inzwischen geändert. Es wurde nichts beendet; bitte prüfen Sie den neuen Stand.",
		"One of the domains has changed meanwhile. Nothing was ended; please check its current state.",
	},
	"problem.renewal_in_progress": {
		"Für eine der Domains läuft gerade eine Abbuchung. Es wurde nichts beendet; bitte versuchen Sie es in ein paar Minuten noch einmal.",
		"One of the domains is being charged right now. Nothing was ended; please try again in a few minutes.",
	},
}
