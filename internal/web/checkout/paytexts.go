package checkout

import "github.com/dotkontor/dotkontor/internal/web/ui"

// payTexts are the texts of the pages that an order's links lead to: review and
// payment, identity verification, decline and claim.
var payTexts = ui.Texts{
	"pay.title.awaiting_verification": {"Bestellung prüfen", "Review your order"},
	"pay.title.awaiting_payment":      {"Bestellung prüfen und bezahlen", "Review and pay for your order"},
	"pay.title.free":                  {"Bestellung prüfen und beauftragen", "Review and confirm your order"},
	"pay.title.paying":                {"Zahlung läuft", "Payment in progress"},
	"pay.title.continue":              {"Zahlung noch offen", "Payment not completed yet"},
	"pay.title.provisioning":          {"Bestellung wird bearbeitet", "We are processing your order"},
	"pay.title.completed":             {"Bestellung abgeschlossen", "Order completed"},
	"pay.title.partially_completed":   {"Bestellung teilweise ausgeführt", "Order partly completed"},
	"pay.title.failed":                {"Bestellung nicht ausgeführt", "Order failed"},
	"pay.title.canceled":              {"Bestellung storniert", "Order cancelled"},
	"pay.title.expired":               {"Bestellung abgelaufen", "Order expired"},

	"pay.text.awaiting_verification": {
		"Ihre Bestellung ist vorbereitet. Weisen Sie vor der Zahlung bitte Ihre Identität nach. Bisher wurde nichts abgebucht.",
		"Your order is ready. Verify your identity before you pay. Nothing has been charged.",
	},
	"pay.text.address_first": {
		"Ihre Bestellung ist vorbereitet. Geben Sie zuerst Ihre Anschrift an: Sie entscheidet über die Umsatzsteuer. Danach sagen wir Ihnen, ob Sie vor der Zahlung Ihre Identität nachweisen müssen. Bisher wurde nichts abgebucht.",
		"Your order is ready. Enter your address first: it determines the VAT. We then tell you whether you need to verify your identity before you pay. Nothing has been charged.",
	},
	"pay.text.awaiting_payment": {
		"Ihre Bestellung ist vorbereitet. Abgebucht wird erst, wenn Sie bezahlen.",
		"Your order is prepared. Nothing is charged until you pay.",
	},
	"pay.text.not_paid": {
		"Die Zahlung wurde nicht abgeschlossen; es wurde nichts berechnet. Sie können noch einmal bezahlen, auch mit einem anderen Zahlungsmittel.",
		"The payment was not completed; nothing was charged. You can pay again, with another payment method if you like.",
	},
	"pay.text.free": {
		"Ihre Bestellung ist vorbereitet und kostet nichts. Wir beginnen, sobald Sie zustimmen.",
		"Your order is prepared and free of charge. We start as soon as you confirm.",
	},
	"pay.text.paying": {
		"Die Zahlungsseite ist geöffnet. Sobald Ihre Zahlung da ist, aktualisiert sich diese Seite von selbst.",
		"The payment page is open. This page updates on its own once we receive your payment.",
	},
	"pay.patience": {
		"Ein Umzug kann hier bis zu {1} Tage dauern.",
		"A transfer in this order can take up to {1} days.",
	},
	"pay.patience_day": {"Ein Umzug kann hier bis zu einem Tag dauern.", "A transfer in this order can take up to a day."},
	"pay.text.provisioning": {
		"Vielen Dank. Hier sehen Sie den aktuellen Stand. Sie können die Seite schließen: Wir schreiben Ihnen, wenn alles erledigt ist.",
		"Thank you. This page shows the progress. You can close it: we will email you when everything is done.",
	},
	"pay.text.provisioning_paid": {
		"Vielen Dank. Hier sehen Sie den aktuellen Stand. Sie können die Seite schließen: Wir schreiben Ihnen, wenn alles erledigt ist. Manchmal dauert es länger. Was wir nicht ausführen können, erstatten wir vollständig.",
		"Thank you. This page shows the progress. You can close it: we will email you when everything is done. Sometimes this takes longer. Anything we can't complete is refunded in full.",
	},
	"pay.delayed": {
		"Das dauert länger als üblich; Ihre Bestellung ist weiter in Arbeit. Sie müssen nichts tun. Ihre Zahlung von {1} haben wir am {2} erhalten. Was wir nicht ausführen können, erstatten wir vollständig.",
		"This is taking longer than usual; your order is still being processed. There is nothing you need to do. We received your payment of {1} on {2}. Anything we can't complete is refunded in full.",
	},
	"pay.delayed_free": {
		"Das dauert länger als üblich; Ihre Bestellung ist weiter in Arbeit. Sie müssen nichts tun.",
		"This is taking longer than usual; your order is still being processed. There is nothing you need to do.",
	},
	"order.again":        {"Noch einmal in den Warenkorb", "Add to basket again"},
	"pay.text.completed": {"Alles ist erledigt.", "Everything is done."},
	"pay.text.refunding": {"Wir erstatten Ihnen diese Bestellung vollständig.", "We are refunding this order in full."},
	"pay.text.refunded":  {"Diese Bestellung haben wir Ihnen vollständig erstattet.", "We have refunded this order in full."},
	"pay.tick_again": {
		"Eine Zustimmung gilt nur für die Zahlung, mit der sie gegeben wurde. Bitte kreuzen Sie an, was gelten soll.",
		"Consent applies only to the payment it was given with. Please tick what you agree to.",
	},
	"pay.text.partially_completed": {
		"Ein Teil war nicht möglich. Das Geld dafür erstatten wir.",
		"Some items failed. We are refunding them.",
	},
	"pay.text.partially_refunded": {
		"Ein Teil war nicht möglich. Das Geld dafür haben wir erstattet.",
		"Some items failed. We have refunded them.",
	},
	"pay.text.failed": {
		"Die Bestellung war nicht möglich. Ihre Zahlung erstatten wir.",
		"We couldn't complete this order. We are refunding your payment.",
	},
	"pay.text.canceled": {
		"Diese Bestellung wurde storniert. Es wird nichts abgebucht.",
		"This order was cancelled. Nothing will be charged.",
	},
	"pay.text.expired": {
		"Diese Bestellung wurde nicht rechtzeitig bezahlt. Es wird nichts abgebucht.",
		"This order was not paid while its prices were valid. Nothing will be charged.",
	},
	"pay.unmatched": {
		"Eine Zahlung ist erst eingegangen, als die Bestellung nicht mehr offen war. Wir erstatten sie vollständig.",
		"A payment arrived after this order was closed. We are refunding it in full.",
	},
	"pay.returned": {
		"Eine Zahlung ist erst eingegangen, als die Bestellung nicht mehr offen war. Wir haben sie vollständig erstattet.",
		"A payment arrived after this order was closed. We have refunded it in full.",
	},
	"pay.not_updated": {
		"Preise und Verfügbarkeit konnten wir gerade nicht aktualisieren. Vor der Zahlung prüfen wir sie noch einmal.",
		"Prices and availability could not be updated just now. We check them again before you pay.",
	},
	"pay.not_updated.at": {"Stand:", "Last updated"},

	"pay.other.heading": {"Sie sind mit einem anderen Konto angemeldet", "You are signed in to another account"},
	"pay.other": {
		"Sie sind als {1} angemeldet. Diese Bestellung gehört zum Konto {2}. Nur damit können Sie bezahlen oder die Bestellung verwerfen.",
		"You are signed in as {1}. This order belongs to {2}. Only that account can pay or discard it.",
	},
	"pay.other.sign_out":  {"Konto wechseln", "Switch accounts"},
	"pay.sign_in.heading": {"Bitte melden Sie sich an", "Please sign in"},
	"pay.sign_in": {
		"Diese Bestellung gehört zum Konto {1}. Melden Sie sich damit an, um zu bezahlen.",
		"This order belongs to {1}. Sign in to that account to pay.",
	},
	"pay.sign_in.button": {"Anmelden", "Sign in"},
	"pay.about":          {"Über diese Bestellung", "About this order"},
	"pay.asked":          {"Auftrag", "Request"},
	"pay.account":        {"Konto", "Account"},
	"pay.owner.new":      {"Inhaber der Domains", "Holder of the domains"},
	"pay.owner.one":      {"Inhaber der Domain", "Holder of the domain"},
	"pay.owner.some":     {"Kunde", "Customer"},
	"pay.owner.same":     {"Rechnung an", "Invoice to"},
	"pay.until":          {"Preise gelten bis", "Prices valid until"},
	"pay.paid_at":        {"Bezahlt", "Paid"},
	"pay.confirmed_at":   {"Beauftragt", "Confirmed"},
	"pay.number":         {"Bestellnummer", "Order number"},
	"items.holder":       {"Inhaber: {1}", "Holder: {1}"},
	"holder.heading":     {"Inhaber je Domain", "Holder of each domain"},
	"holder.intro": {
		"Die Registry bekommt die Angaben des Inhabers, wenn sie Inhaber speichert. Die Rechnung geht an Sie. Hat er eine eigene E-Mail-Adresse, muss er sie innerhalb von 15 Tagen bestätigen; wir schreiben ihm. Sonst müssen wir seine Domains aus dem DNS nehmen.",
		"The registry gets the holder's details if it stores holders. The invoice goes to you. A holder with an email address of their own has to confirm it within 15 days; we write to them. Otherwise, we have to take their domains out of the DNS.",
	},
	"holder.transfer": {
		"Mit dem Umzug tragen wir den Inhaber ein, den Sie hier wählen. Ist es heute jemand anderes, wechselt damit der Inhaber.",
		"With the transfer, we record the holder you choose here. If it is someone else today, this changes the holder.",
	},
	"holder.of":         {"Inhaber von {1}", "Holder of {1}"},
	"holder.one":        {"Ein Inhaber für alle Domains", "One holder for all domains"},
	"holder.each":       {"Inhaber pro Domain wählen", "Choose a holder for each domain"},
	"holder.several":    {"verschiedene Inhaber", "different holders"},
	"holder.new":        {"Neuen Inhaber anlegen", "Add a holder"},
	"holder.self":       {"ich selbst", "myself"},
	"holder.submit_all": {"Für alle übernehmen", "Apply to all"},
	"holder.submit":     {"Übernehmen", "Apply"},
	"holder.manage":     {"Inhaber verwalten", "Manage holders"},
	"note.holder_added": {"Der Inhaber ist gespeichert. Sie können ihn jetzt wählen.", "The holder is saved. You can choose it now."},
	"note.holder_saved": {"Die Angaben des Inhabers sind gespeichert.", "The holder's details are saved."},
	"problem.holders_chosen": {
		"Sie haben einen anderen Inhaber gewählt; er ist jetzt gespeichert. Bitte prüfen Sie die Bestellung noch einmal.",
		"You chose another holder, which is saved now. Please check your order once more.",
	},
	"note.holders_saved": {"Die Inhaber sind gespeichert.", "The holders are saved."},
	"pay.items":          {"Ihre Bestellung", "Your order"},
	"pay.submit":         {"Zahlungspflichtig bestellen", "Order with obligation to pay"},
	"pay.submit_free":    {"Kostenlos beauftragen", "Order free of charge"},
	"pay.then":           {"Danach öffnet sich die Seite unseres Zahlungsdienstes.", "Our payment provider's page opens next."},
	"pay.then_saved": {
		"Danach öffnet sich die Seite unseres Zahlungsdienstes. Dort können Sie mit {1} bezahlen oder ein anderes Zahlungsmittel wählen.",
		"Our payment provider's page opens next. You can pay with {1} there or choose another payment method.",
	},
	"pay.remove":     {"Entfernen", "Remove"},
	"pay.remove_one": {"{1} aus der Bestellung entfernen", "Remove {1} from the order"},
	"pay.refused_some": {
		"So lässt sich diese Bestellung nicht bezahlen. Entfernen Sie bitte die Domains, bei denen oben ein Grund steht.",
		"This order can't be paid as it is. Please remove the domains that show a reason above.",
	},
	"pay.refused_paid": {
		"Hier ist nichts mehr zu bezahlen: Alles in dieser Bestellung ist inzwischen verlängert. Bitte verwerfen Sie sie.",
		"Nothing is left to pay: everything in this order has been renewed in the meantime. Please discard it.",
	},
	"pay.then_free": {"Es wird nichts abgebucht.", "Nothing will be charged."},
	"pay.refused": {
		"Diese Bestellung lässt sich nicht mehr ausführen. Verwerfen Sie sie bitte und bestellen Sie neu, was noch verfügbar ist.",
		"This order can no longer be completed. Discard it and order the items that are still available.",
	},
	"pay.incomplete": {
		"Bezahlen können Sie, sobald die Angaben oben vollständig sind.",
		"You can pay once the details above are complete.",
	},
	"pay.incomplete_identity": {
		"Bezahlen können Sie, sobald Ihre Identität bestätigt ist.",
		"You can pay once your identity is verified.",
	},
	"pay.incomplete_holder": {
		"Weiter geht es, sobald jede Domain einen Inhaber hat, den ihre Endung zulässt.",
		"You can continue once every domain has a holder that its extension admits.",
	},
	"pay.incomplete_free": {
		"Beauftragen können Sie, sobald die Angaben oben vollständig sind.",
		"You can confirm once the details above are complete.",
	},
	"pay.continue":   {"Weiter zur Zahlung", "Continue to payment"},
	"pay.cancel":     {"Zahlung abbrechen", "Cancel payment"},
	"pay.decline":    {"Bestellung verwerfen", "Discard order"},
	"pay.to_invoice": {"Zur Rechnung", "View invoice"},
	"pay.to_domains": {"Zu Ihren Domains", "View your domains"},

	"need.registrant.heading.new":  {"Wem sollen die Domains gehören?", "Who will hold the domains?"},
	"need.registrant.heading.one":  {"Wem soll die Domain gehören?", "Who will hold the domain?"},
	"need.registrant.heading.some": {"Ihre Angaben", "Your details"},
	"need.registrant.heading.same": {"Ihre Angaben", "Your details"},
	"need.registrant.new": {
		"Diese Person oder Firma wird als Inhaber eingetragen. Die Anschrift steht auch auf der Rechnung.",
		"This person or organisation becomes the registered holder. The address also appears on the invoice.",
	},
	"need.registrant.some": {
		"Auf diesen Namen laufen die Domains, für die Sie keinen anderen Inhaber wählen. Verlängerte Domains behalten ihren Inhaber. Die Anschrift steht auch auf der Rechnung.",
		"Domains are registered in this name unless you choose another holder. Renewed domains keep their holder. The address also appears on the invoice.",
	},
	"need.registrant.same": {
		"Diese Anschrift steht auf der Rechnung. Wem die Domains gehören, ändert sie nicht.",
		"This address appears on the invoice. It does not change who holds the domains.",
	},
	"need.registrant.language": {
		"Wenn Sie die Sprache wechseln, ist das Formular wieder leer. Wechseln Sie sie deshalb vor dem Ausfüllen.",
		"Changing the language clears this form, so choose the language before you fill it in.",
	},
	"need.registrant.more": {"Firma oder Umsatzsteuer-ID angeben", "Add a company or VAT ID"},
	"need.registrant.save": {"Angaben speichern", "Save details"},
	"need.holder.heading":  {"Inhaber: {1}, {2}", "Holder: {1}, {2}"},
	"need.holder": {
		"Wählen Sie einen anderen Inhaber, oder ändern Sie die Angaben von {1}.",
		"Choose another holder, or change the details of {1}.",
	},
	"need.holder.button":     {"Anderen Inhaber wählen", "Choose another holder"},
	"need.holder.edit":       {"Angaben von {1} ändern", "Change the details of {1}"},
	"need.registrant.button": {"Angaben ändern", "Change details"},

	"done.heading":       {"Ihre Domains", "Your domains"},
	"done.register_for":  {"{1} ist registriert.", "{1} is registered."},
	"done.register":      {"{1} gehört jetzt Ihnen.", "{1} is yours."},
	"done.transfer":      {"{1} ist zu uns umgezogen.", "{1} has moved to us."},
	"done.renew":         {"{1} ist verlängert.", "{1} is renewed."},
	"done.renew_until":   {"{1} ist bis zum {2} verlängert.", "{1} is renewed until {2}."},
	"done.restore":       {"{1} ist wiederhergestellt.", "{1} is restored."},
	"done.restore_until": {"{1} ist wiederhergestellt und bis zum {2} bezahlt.", "{1} is restored and paid until {2}."},
	"done.until":         {"Bezahlt bis {1}.", "Paid until {1}."},
	"done.later":         {"Die Verlängerung kostet derzeit {1} brutto für {2}.", "Renewal currently costs {1} gross for {2}."},
	"done.later_untaxed": {"Die Verlängerung kostet derzeit {1} für {2}.", "Renewal currently costs {1} for {2}."},
	"done.renews":        {"Die automatische Verlängerung ist eingeschaltet.", "Automatic renewal is on."},
	"done.renews_all":    {"Die automatische Verlängerung ist für alle eingeschaltet.", "Automatic renewal is on for all of them."},
	"done.renews_some":   {"Die automatische Verlängerung ist für {1} von {2} eingeschaltet.", "Automatic renewal is on for {1} of {2}."},
	"done.locked":        {"Wir sperren sie gegen Umzüge. Die Sperre können Sie jederzeit selbst aufheben.", "We lock it against transfers. You can unlock it at any time."},
	"done.locked_many":   {"Neue Domains sperren wir gegen Umzüge, soweit die Registry das anbietet. Die Sperre können Sie jederzeit selbst aufheben.", "We lock new domains against transfers where the registry has such a lock. You can unlock them at any time."},
	"done.many_renewed":  {"Alle {1} Domains sind verlängert.", "All {1} domains are renewed."},
	"done.many_mixed":    {"Alle {1} Domains Ihrer Bestellung sind da.", "All {1} domains of your order are ready."},
	"done.domains":       {"Ihre Domains und ihre Laufzeiten ansehen", "See your domains and their terms"},
	"done.many":          {"Alle {1} Domains sind jetzt in Ihrem Konto.", "All {1} domains are now in your account."},
	"done.next_term": {
		"Die Laufzeit von {1} endet schon am {2}. Eine automatische Verlängerung könnten wir nicht mehr 30 Tage vorher ankündigen: Bitte verlängern Sie die Domain dieses Mal selbst.",
		"The term of {1} already ends on {2}. We could no longer announce an automatic renewal 30 days ahead: please renew the domain yourself this time.",
	},
	"done.nameservers_many": {
		"Domains mit Ihrer Website verbinden: Nameserver eintragen",
		"Connect the domains to your website: set their nameservers",
	},
	"done.next": {"So geht es weiter", "What to do next"},
	"done.nameservers": {
		"{1} mit Ihrer Website verbinden: Nameserver eintragen",
		"Connect {1} to your website: set its nameservers",
	},
	"done.password": {"Passwort wählen, damit Sie sich wieder anmelden können", "Choose a password so that you can sign in again"},
	"done.invoice":  {"Rechnung ansehen; sie kommt auch per E-Mail", "View your invoice; we also email it to you"},

	"pay.renewals_collected": {
		"Verlängerungen sammeln wir in einer Bestellung, bis Sie bezahlen. Was Sie jetzt nicht verlängern möchten, entfernen Sie hier.",
		"We collect renewals in one order until you pay. Remove here what you don't want to renew now.",
	},

	"steps.label":  {"Schritte", "Steps"},
	"steps.choose": {"Auswählen", "Choose"},
	"steps.review": {"Prüfen", "Review"},
	"steps.pay":    {"Bezahlen", "Pay"},
	"steps.done":   {"Fertig", "Done"},
	"steps.past":   {"erledigt", "completed"},
	"need.identity": {
		"Der Nachweis ist einmal nötig, wenn Bestellungen mit demselben Konto, derselben E-Mail-Adresse oder demselben Zahlungsmittel innerhalb von 30 Tagen {1} übersteigen, oder wenn eine Endung ihn verlangt. Danach können Sie bezahlen.",
		"You verify your identity once if orders with the same account, email address or payment method exceed {1} within 30 days, or if an extension requires it. Then you can pay.",
	},
	"need.identity.button": {"Identität nachweisen", "Verify identity"},

	"code.heading": {"Auth-Code für {1}", "Auth code for {1}"},
	"code.intro": {
		"Für den Umzug brauchen wir den Auth-Code. Sie bekommen ihn von Ihrem bisherigen Anbieter.",
		"To transfer the domain we need its auth code. You get it from your current provider.",
	},
	"code.label":         {"Auth-Code", "Auth code"},
	"code.hint":          {"Auch AuthInfo, Transfer- oder Umzugscode genannt.", "Also called AuthInfo, EPP code or transfer code."},
	"code.submit":        {"Auth-Code speichern", "Save auth code"},
	"code.saved":         {"Der Auth-Code ist hinterlegt.", "The auth code is saved."},
	"code.change":        {"Anderen Auth-Code für {1} eingeben", "Enter a different auth code for {1}"},
	"code.change_some":   {"Auth-Codes ändern", "Change auth codes"},
	"code.saved_many":    {"{1} Auth-Codes sind hinterlegt.", "{1} auth codes are saved."},
	"code.saved.heading": {"Auth-Codes", "Auth codes"},

	"renew.label":     {"Automatisch verlängern.", "Renew automatically."},
	"renew.row":       {"{1}: {2} für {3}, erste Abbuchung voraussichtlich am {4}", "{1}: {2} for {3}, first charge expected on {4}"},
	"renew.row_later": {"{1}: {2} für {3}, erste Abbuchung {4} Tage vor dem Ende der Laufzeit", "{1}: {2} for {3}, first charge {4} days before the end of the term"},
	"renew.rest": {
		"Endet sie in weniger als {1} Tagen, verlängern Sie bitte dieses Mal selbst: Die Abbuchung könnten wir nicht mehr 30 Tage vorher ankündigen.",
		"If it ends in fewer than {1} days, please renew yourself this time: we could no longer announce the charge 30 days ahead.",
	},
	"renew.excluded": {
		"Nicht enthalten: {1}. Die Registry nennt noch keinen Preis für die Verlängerung. Sie können die automatische Verlängerung nach der Bestellung auf der Seite der Domain einschalten.",
		"Not included: {1}. The registry does not state a renewal price yet. After your order you can turn on automatic renewal on the domain's page.",
	},
	"renew.declared.termination": {
		"{1} lässt sich nicht automatisch verlängern, solange wir Ihre Kündigung bearbeiten.",
		"Automatic renewal can't be turned on for {1} while we are handling your cancellation.",
	},
	"renew.declared.withdrawal": {
		"{1} lässt sich nicht automatisch verlängern, solange wir Ihren Widerruf bearbeiten.",
		"Automatic renewal can't be turned on for {1} while we are handling your withdrawal.",
	},
	"renew.hint": {
		"Freiwillig. Unser Zahlungsdienst speichert dafür das Zahlungsmittel, mit dem Sie jetzt bezahlen. Es wird Ihr Standard: Davon buchen wir dann alle automatischen Verlängerungen ab. Ohne Häkchen erinnern wir Sie vor dem Ablauf, und Sie verlängern selbst.",
		"Optional. For this, our payment provider saves the payment method that you pay with now. It becomes your default: we then charge all automatic renewals to it. If you don't tick the box, we remind you before expiry, and you renew yourself.",
	},
	"renew.hint_free": {
		"Freiwillig. Wir buchen die Verlängerungen dann von Ihrem Standard-Zahlungsmittel ab. Ohne Häkchen erinnern wir Sie vor dem Ablauf, und Sie verlängern selbst.",
		"Optional. We then charge the renewals to your default payment method. If you don't tick the box, we remind you before expiry, and you renew yourself.",
	},
	"renew.again": {
		"Die Preise der Verlängerung sind jetzt andere. Kreuzen Sie das Kästchen noch einmal an, wenn Sie einverstanden sind.",
		"The renewal prices have changed. Tick the box again if you agree.",
	},
	"renew.stored": {"Derzeit ist {1} Ihr Standard.", "Your current default is {1}."},

	"consent.heading": {"Sofortiger Beginn", "Immediate start"},
	"consent.given":   {"ausdrücklich verlangt am", "expressly requested on"},
	"consent.until": {
		"Widerrufsfrist bis {1}; das Widerrufsrecht erlischt vorher, wenn wir die Leistung vollständig erbracht haben.",
		"Withdrawal period until {1}; the right to withdraw ends earlier, once the service has been fully performed.",
	},
	"consent.consumers": {
		"Nötig, wenn Sie als Privatperson bestellen.",
		"Required if you order as a private person.",
	},
	"consent.ended":    {"Die Widerrufsfrist ist am {1} abgelaufen.", "The withdrawal period ended on {1}."},
	"consent.withdraw": {"Widerruf erklären", "Withdraw from this contract"},
	"consent.words":    {"Wortlaut", "Full wording"},

	"decline.title": {"Bestellung verwerfen?", "Discard this order?"},
	"decline.text": {
		"Es wird nichts abgebucht und nichts ausgeführt. Wenn Sie es sich anders überlegen, bestellen Sie einfach neu.",
		"Nothing will be charged or carried out. If you change your mind, just place a new order.",
	},
	"decline.submit": {"Ja, verwerfen", "Yes, discard"},
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
		"Der Name im Dokument weicht vom Namen in Ihrem Profil ab ({1}). Berichtigen Sie ihn dort, oder verwenden Sie ein anderes Dokument.",
		"The name in the document differs from the one in your profile ({1}). Correct it there, or use another document.",
	},
	"verify.failure.other": {
		"Das Dokument wurde nicht akzeptiert. Achten Sie auf gutes Licht, und verwenden Sie einen gültigen Ausweis oder Pass.",
		"The document was not accepted. Make sure the light is good, and use a valid ID card or passport.",
	},
	"verify.address_first": {
		"Geben Sie zuerst auf der Bestellseite Ihre Anschrift an. Im Dokument muss der Name stehen, den Sie dort angeben. Danach steht fest, ob der Nachweis nötig ist.",
		"Enter your address on the order page first. The document must show the name you enter there. It is then certain whether the verification is needed.",
	},
	"verify.how.heading": {"So funktioniert es", "How it works"},
	"verify.how": {
		"Unser Zahlungsdienst prüft einen Ausweis oder Pass. Sie brauchen dafür eine Kamera, zum Beispiel im Telefon. Wir erfahren nur, ob es geklappt hat und welcher Name im Dokument steht.",
		"Our payment provider checks an ID card or passport. You need a camera, such as the one in your phone. We only learn whether the check succeeded and which name the document shows.",
	},
	"verify.name": {
		"Im Dokument muss der Name aus Ihrem Profil stehen ({1}), auch wenn eine Firma oder jemand anderes Inhaber der Domain ist.",
		"The document must show the name in your profile ({1}), even if the domain's holder is a company or someone else.",
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

	"pay.unclaimed.heading": {"Noch keinem Konto zugeordnet", "Not assigned to an account yet"},
	"pay.unclaimed": {
		"Ein Agent hat diese Bestellung für {1} aufgegeben. Wir schicken einen Link an diese Adresse. Damit ordnen Sie die Bestellung einem Konto zu; danach können Sie sie hier bezahlen und verwalten.",
		"An agent placed this order for {1}. We send a link to that address. Use it to add the order to an account; then you can pay and manage it here.",
	},
	"pay.unclaimed.button": {"Link schicken", "Send link"},
	"pay.unclaimed.no_customer": {
		"Ein Agent hat diese Bestellung aufgegeben und noch keinen Kunden genannt.",
		"An agent placed this order and hasn't named the customer yet.",
	},
	"claim.title": {"Bestellung übernehmen", "Claim your order"},
	"claim.intro": {
		"Ein Agent hat diese Bestellung für Sie aufgegeben. Sie gehört noch keinem Konto:",
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

	"pay.law":                 {"Für die Bestellung gelten:", "This order is subject to:"},
	"pay.law.terms.path":      {"/agb", "/terms"},
	"pay.law.withdrawal.path": {"/widerruf", "/withdrawal"},
	"pay.law.terms":           {"AGB", "terms"},
	"pay.law.privacy":         {"Datenschutz", "privacy policy"},
	"pay.law.withdrawal":      {"Widerrufsrecht", "right of withdrawal"},
	"pay.law.privacy.path":    {"/datenschutz", "/privacy"},
}
