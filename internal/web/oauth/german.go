package oauth

// german holds the texts of the consent page; english has the same keys.
var german = map[string]string{
	"consent.title":        "Anwendung verbinden",
	"consent.named":        "Eine Anwendung, die sich „{1}“ nennt, möchte auf Ihr Konto zugreifen.",
	"consent.unnamed":      "Eine Anwendung ohne Namen möchte auf Ihr Konto zugreifen.",
	"consent.claim":        "Den Namen hat die Anwendung selbst gewählt. Wir haben ihn nicht geprüft.",
	"consent.account":      "Ihr Konto",
	"consent.host":         "Die Antwort geht an",
	"consent.local":        "ein Programm auf Ihrem eigenen Gerät ({1})",
	"consent.local_hint":   "Stimmen Sie nur zu, wenn Sie dieses Programm gerade selbst gestartet haben.",
	"consent.wants":        "Die Anwendung darf dann",
	"consent.write.list":   "Ihre Domains und Bestellungen sehen",
	"consent.write.order":  "Bestellungen vorbereiten, die Sie selbst im Browser bezahlen oder verwerfen",
	"consent.write.cancel": "unbezahlte Bestellungen stornieren",
	"consent.write.not":    "Sie darf nichts bezahlen, Ihr Passwort nicht sehen und Ihre Kontodaten nicht ändern.",
	"consent.read":         "nur abfragen, was jeder auch ohne Anmeldung abfragen kann",
	"consent.until":        "Dauer",
	"consent.until_text":   "bis {1}, mit jeder Nutzung 30 Tage länger. Sie können die Verbindung jederzeit in Ihrem Profil trennen.",
	"consent.approve":      "Zustimmen und verbinden",
	"consent.deny":         "Ablehnen",

	"refused.title":               "Diese Anfrage können wir nicht annehmen",
	"refused.back":                "Es wurde nichts freigegeben. Bitte gehen Sie zurück zu der Anwendung und beginnen Sie dort noch einmal.",
	"refused.unknown_client":      "Die Anwendung, die Sie hierher geschickt hat, ist nicht registriert.",
	"refused.bad_redirect":        "Die Anwendung hat eine Antwortadresse genannt, die nicht für sie hinterlegt ist. Zu Ihrem Schutz leiten wir Sie nicht weiter.",
	"refused.bad_client_document": "Die Beschreibung der Anwendung lässt sich unter ihrer Adresse nicht lesen.",
	"refused.request_too_long":    "Die Anfrage der Anwendung ist zu lang.",
	"refused.unclear_request":     "Die Anfrage der Anwendung ist unvollständig oder mehrdeutig.",
	"refused.no_such_consent":     "Diese Anfrage ist abgelaufen oder schon beantwortet.",
}
