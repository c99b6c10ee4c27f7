package page

// german holds the texts of the frame; english has the same keys.
var german = map[string]string{ //nolint:gosec // sentences
	"frame.skip":     "Zum Inhalt",
	"frame.menu":     "Bereiche",
	"frame.sign_out": "Abmelden",

	"menu.domains":  "Domains",
	"menu.orders":   "Bestellungen",
	"menu.profile":  "Profil",
	"menu.security": "Sicherheit",
	"menu.tokens":   "MCP- und API-Zugang",
	"menu.apps":     "Anwendungen",
	"menu.activity": "Verlauf",

	"field.optional": "(freiwillig)",

	"wait.soon":    "einem Moment",
	"wait.second":  "einer Sekunde",
	"wait.seconds": "{1} Sekunden",
	"wait.minutes": "{1} Minuten",

	"failure.home":                  "Zur Startseite des Portals",
	"failure.not_found.title":       "Nicht gefunden",
	"failure.not_found":             "Diese Seite gibt es nicht, oder sie gehört nicht zu Ihrem Konto.",
	"failure.invalid.title":         "Das hat nicht geklappt",
	"failure.invalid":               "Die Anfrage war unvollständig. Bitte gehen Sie zurück und versuchen Sie es noch einmal.",
	"failure.too_large":             "Die Anfrage war zu groß.",
	"failure.no_such_method":        "So lässt sich diese Adresse nicht aufrufen.",
	"failure.cross_site.title":      "Anfrage abgelehnt",
	"failure.cross_site":            "Die Anfrage kam von einer anderen Website. Zu Ihrem Schutz wurde nichts geändert.",
	"failure.forbidden.title":       "Nicht erlaubt",
	"failure.forbidden":             "Das ist mit diesem Zugang nicht möglich.",
	"failure.conflict.title":        "Das geht gerade nicht",
	"failure.conflict":              "Der Stand hat sich inzwischen geändert. Bitte laden Sie die Seite neu.",
	"failure.rate_limited.title":    "Bitte warten Sie etwas",
	"failure.rate_limited":          "Zu viele Versuche. Bitte versuchen Sie es in {1} wieder.",
	"failure.unauthenticated.title": "Bitte melden Sie sich an",
	"failure.unauthenticated":       "Das hat nicht geklappt. Bitte melden Sie sich an.",
	"failure.upstream.title":        "Gerade nicht erreichbar",
	"failure.upstream":              "Ein Teil des Dienstes antwortet nicht. Bitte versuchen Sie es in {1} wieder.",
	"failure.internal.title":        "Ein Fehler bei uns",
	"failure.internal":              "Bei uns ist ein Fehler aufgetreten. Bitte versuchen Sie es in {1} wieder.",
	"failure.mail_off.title":        "Zurzeit kein Versand von E-Mails",
	"failure.mail_off":              "Dafür müssten wir Ihnen eine E-Mail schicken, und der Versand ist hier nicht eingerichtet. Bitte wenden Sie sich an den Betreiber.",
}
