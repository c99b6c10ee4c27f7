package oauth

import "github.com/dotkontor/dotkontor/internal/web/ui"

var texts = ui.Texts{
	"consent.title": {"Anwendung verbinden", "Connect an application"},
	"consent.named": {
		"Eine Anwendung, die sich „{1}“ nennt, möchte auf Ihr Konto zugreifen.",
		"An application that calls itself “{1}” requests access to your account.",
	},
	"consent.unnamed": {
		"Eine Anwendung ohne Namen möchte auf Ihr Konto zugreifen.",
		"An unnamed application requests access to your account.",
	},
	"consent.claim": {
		"Den Namen hat die Anwendung selbst gewählt. Wir haben ihn nicht geprüft.",
		"The application chose this name itself. We have not checked it.",
	},
	"consent.account": {"Ihr Konto", "Your account"},
	"consent.host":    {"Die Antwort geht an", "Response goes to"},
	"consent.local":   {"ein Programm auf Ihrem eigenen Gerät ({1})", "a program on your own device ({1})"},
	"consent.local_hint": {
		"Stimmen Sie nur zu, wenn Sie dieses Programm gerade selbst gestartet haben.",
		"Approve only if you just started this program yourself.",
	},
	"consent.wants":      {"Die Anwendung darf dann", "The application will be able to"},
	"consent.write.list": {"Ihre Domains und Bestellungen sehen", "view your domains and orders"},
	"consent.write.order": {
		"Bestellungen vorbereiten, die Sie selbst im Browser bezahlen oder verwerfen",
		"prepare orders, which you pay for or discard yourself in your browser",
	},
	"consent.write.cancel": {"unbezahlte Bestellungen stornieren", "cancel unpaid orders"},
	"consent.write.renew":  {"automatische Verlängerungen ausschalten", "turn off automatic renewals"},
	"consent.write.not": {
		"Sie darf nichts bezahlen, Ihr Passwort nicht sehen und Ihre Kontodaten nicht ändern.",
		"It can't pay, see your password or change your account details.",
	},
	"consent.read": {
		"nur abfragen, was jeder auch ohne Anmeldung abfragen kann",
		"look up only what anyone can look up without signing in",
	},
	"consent.until": {"Dauer", "Duration"},
	"consent.until_text": {
		"bis {1}, mit jeder Nutzung 30 Tage länger. Sie können die Verbindung jederzeit im Portal unter „Agenten“ trennen.",
		"until {1}, extended by 30 days with each use. You can disconnect it in the portal under “Agents” at any time.",
	},
	"consent.approve": {"Zustimmen und verbinden", "Approve and connect"},
	"consent.deny":    {"Ablehnen", "Deny"},

	"refused.title": {"Diese Anfrage können wir nicht annehmen", "We can't accept this request"},
	"refused.back": {
		"Es wurde nichts freigegeben. Bitte gehen Sie zurück zu der Anwendung und beginnen Sie dort noch einmal.",
		"Nothing was granted. Please go back to the application and start again there.",
	},
	"refused.unknown_client": {
		"Die Anwendung, die Sie hierher geschickt hat, ist nicht registriert.",
		"The application that sent you here is not registered.",
	},
	"refused.bad_redirect": {
		"Die Anwendung hat eine Antwortadresse genannt, die nicht für sie hinterlegt ist. Zu Ihrem Schutz leiten wir Sie nicht weiter.",
		"The application requested a response address that is not registered for it. For your protection, we don't redirect you there.",
	},
	"refused.bad_client_document": {
		"Die Beschreibung der Anwendung lässt sich unter ihrer Adresse nicht lesen.",
		"The application's description can't be read at its address.",
	},
	"refused.request_too_long": {"Die Anfrage der Anwendung ist zu lang.", "The application's request is too long."},
	"refused.unclear_request": {
		"Die Anfrage der Anwendung ist unvollständig oder mehrdeutig.",
		"The application's request is incomplete or ambiguous.",
	},
	"refused.no_such_consent": {
		"Diese Anfrage ist abgelaufen oder schon beantwortet.",
		"This request has expired or was already answered.",
	},
}
