package checkout

import "github.com/dotkontor/dotkontor/internal/web/ui"

// basketTexts are the texts of the basket.
var basketTexts = ui.Texts{
	"basket.title":         {"Warenkorb", "Basket"},
	"basket.items":         {"Ihre Auswahl", "Your selection"},
	"basket.later":         {"danach {1} brutto pro Jahr", "then {1} gross per year"},
	"basket.later_untaxed": {"danach {1} pro Jahr", "then {1} per year"},
	"basket.premium":       {"Premium", "Premium"},
	"basket.remove":        {"Entfernen", "Remove"},
	"basket.remove_of":     {"Entfernen: {1}", "Remove {1}"},
	"basket.term_of":       {"Laufzeit von {1}", "Term of {1}"},
	"basket.set_terms":     {"Preise aktualisieren", "Update prices"},
	"basket.vat": {
		"Berechnet mit {1} deutscher Umsatzsteuer. Ihr Steuersatz hängt von Ihrer Anschrift ab; Sie sehen ihn im nächsten Schritt, bevor Sie bestellen.",
		"Calculated with {1} German VAT. Your rate depends on your address; you see it in the next step, before you order.",
	},
	"basket.vat_known": {
		"Berechnet mit {1} Umsatzsteuer, passend zu Ihrer Anschrift.",
		"Calculated with {1} VAT, based on your address.",
	},
	"basket.vat_untaxed": {
		"Berechnet ohne Umsatzsteuer: Bei Ihrer Anschrift fällt keine deutsche Umsatzsteuer an.",
		"Calculated without VAT: with your address, no German VAT is due.",
	},
	"basket.vat_reverse": {
		"Berechnet ohne Umsatzsteuer, weil Ihre Umsatzsteuer-ID bestätigt ist: Sie schulden die Steuer selbst (Reverse Charge).",
		"Calculated without VAT because your VAT ID is confirmed: you account for the tax yourself (reverse charge).",
	},
	"basket.identity": {
		"Übersteigen Bestellungen mit demselben Konto, derselben E-Mail-Adresse oder demselben Zahlungsmittel innerhalb von 30 Tagen {1}, weisen Sie vor der Zahlung einmal Ihre Identität nach.",
		"If orders with the same account, email address or payment method exceed {1} within 30 days, you verify your identity once before you pay.",
	},
	"basket.identity_extension": {
		"Für eine dieser Endungen weisen Sie vor der Zahlung einmal Ihre Identität nach.",
		"One of these extensions requires you to verify your identity once before you pay.",
	},
	"basket.identity_how": {
		"Sie brauchen dafür einen Ausweis oder Pass und eine Kamera, zum Beispiel im Telefon.",
		"You need an ID card or passport and a camera, such as the one in your phone.",
	},
	"basket.order": {"Weiter zur Kasse", "Continue to checkout"},
	"basket.then": {
		"Wir prüfen jetzt bei den Registries, ob alles möglich ist. Sie bestellen und bezahlen noch nichts.",
		"We now check with the registries whether everything is possible. You don't order or pay yet.",
	},
	"basket.email": {"Ihre E-Mail-Adresse", "Your email address"},
	"basket.email.hint": {
		"Wir schicken Ihnen einen Link, der Ihre Adresse bestätigt und zur Kasse führt.",
		"We send you a link that confirms your address and leads to checkout.",
	},
	"basket.guest":            {"Sie haben schon ein Konto?", "Already have an account?"},
	"basket.sign_in":          {"Anmelden und zur Kasse", "Sign in and check out"},
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
	"basket.transfer.more":   {"Preise, Ablauf und viele Domains auf einmal", "Prices, steps and many domains at once"},
	"basket.transfer.label":  {"Domain, zum Beispiel meine-firma.de", "Domain, for example my-company.com"},
	"basket.transfer.submit": {"Umzug in den Warenkorb", "Add transfer to basket"},
	"basket.collected":       {"Im Korb ✓", "In basket ✓"},
	"basket.now":             {"{1} liegt im Warenkorb. Er enthält jetzt {2} Domains.", "{1} is in your basket. It now contains {2} domains."},
	"basket.now_one":         {"{1} liegt im Warenkorb. Er enthält jetzt 1 Domain.", "{1} is in your basket. It now contains 1 domain."},
	"basket.bought": {
		"Das haben Sie schon bestellt, deshalb liegt es nicht mehr im Warenkorb: {1}.",
		"You have already ordered this, so it is no longer in your basket: {1}.",
	},
	"basket.remove_refused": {"Alle {1} nicht bestellbaren entfernen", "Remove all {1} unavailable items"},
	"basket.refused": {
		"Mindestens eine Domain lässt sich nicht bestellen. Der Grund steht bei der Domain; entfernen Sie sie, um fortzufahren. Bestellt wurde nichts.",
		"Some items aren't available. Remove them to continue. Nothing was ordered.",
	},
	"basket.unreachable": {
		"Die Registry antwortet gerade nicht. Bitte versuchen Sie es gleich noch einmal.",
		"The registry isn't responding. Please try again in a moment.",
	},
	"problem.renewals_refused": {
		"Diese Domains lassen sich zurzeit nicht verlängern. Auf der Seite der Domain sehen Sie, was möglich ist.",
		"These domains can't be renewed at the moment. The page of each domain shows what is possible.",
	},
	"note.again_partly": {"Was sich zurzeit nicht bestellen lässt, wurde ausgelassen.", "Items that can't be ordered at the moment were left out."},
	"note.again_split": {
		"Verlängerungen bezahlen Sie getrennt. Sie finden sie unter „Bestellungen“.",
		"Renewals are paid separately. You can find them under “Orders”.",
	},
	"note.again_partly_split": {
		"Was sich zurzeit nicht bestellen lässt, wurde ausgelassen. Verlängerungen bezahlen Sie getrennt. Sie finden sie unter „Bestellungen“.",
		"Items that can't be ordered at the moment were left out. Renewals are paid separately. You can find them under “Orders”.",
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
	"problem.basket_email":     {"Bitte geben Sie eine gültige E-Mail-Adresse ein.", "Please enter a valid email address."},
	"problem.basket_extension": {"Diese Endung führen wir nicht.", "We don't offer this extension."},
	"problem.basket_upstream": {
		"Die Registry antwortet gerade nicht. Bestellt wurde nichts. Bitte versuchen Sie es gleich noch einmal.",
		"The registry isn't responding. Nothing was ordered. Please try again in a moment.",
	},
	"note.confirmed_no_password": {
		"Ihr Konto ist angelegt. Legen Sie später unter „Sicherheit“ einen Passkey oder unter „Profil“ ein Passwort an, damit Sie sich wieder anmelden können.",
		"Your account has been created. Later, add a passkey under “Security” or a password under “Profile” so that you can sign in again.",
	},
	"note.confirmed": {"Ihr Konto ist bereit.", "Your account is ready."},
}
