package rest

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// messages are the German texts of this transport. Each says what is wrong and what to
// do.
var messages = map[registrar.Code]string{
	registrar.NameEmpty:        "Bitte geben Sie einen Namen ein.",
	registrar.NameNoExtension:  "Es fehlt die Endung. Bitte geben Sie den vollständigen Namen an, zum Beispiel beispiel.de.",
	registrar.NameIsExtension:  "Das ist nur eine Endung. Bitte stellen Sie einen Namen davor, zum Beispiel beispiel.de.",
	registrar.NameSubdomain:    "Vor der Endung darf nur ein Name stehen. Bitte lassen Sie „www.“ und andere vorangestellte Teile weg.",
	registrar.NameEmptyLabel:   "Zwischen zwei Punkten oder am Anfang fehlt ein Namensteil. Bitte prüfen Sie die Punkte.",
	registrar.NameLabelTooLong: "Ein Namensteil ist länger als 63 Zeichen. Bitte kürzen Sie ihn.",
	registrar.NameTooLong:      "Der Name ist länger als 253 Zeichen. Bitte kürzen Sie ihn.",
	registrar.NameHyphenEdge:   "Ein Namensteil darf nicht mit einem Bindestrich beginnen oder enden.",
	registrar.NameHyphens34:    "An dritter und vierter Stelle dürfen keine zwei Bindestriche stehen.",
	registrar.NamePunycode:     "Der mit „xn--“ kodierte Namensteil ist ungültig. Bitte schreiben Sie den Namen mit seinen Sonderzeichen.",
	registrar.NameUnderscore:   "Unterstriche sind in Domainnamen nicht erlaubt. Bitte verwenden Sie einen Bindestrich.",
	registrar.NameAddress:      "Das ist eine IP-Adresse. Bitte geben Sie einen Domainnamen an.",
	registrar.NameURL:          "Das ist eine Internetadresse. Bitte geben Sie nur den Domainnamen an, ohne „https://“ und ohne Pfad.",
	registrar.NamePort:         "Bitte geben Sie den Domainnamen ohne Doppelpunkt und ohne Portnummer an.",
	registrar.NameEmail:        "Das ist eine E-Mail-Adresse. Bitte geben Sie nur den Domainnamen nach dem @ an.",
	registrar.NameControl:      "Der Name enthält ein unsichtbares Steuerzeichen. Bitte tippen Sie ihn neu ein.",
	registrar.NameSpace:        "Der Name enthält ein Leerzeichen. Bitte entfernen Sie es oder verwenden Sie einen Bindestrich.",
	registrar.NameCharacter:    "Der Name enthält ein Zeichen, das in Domainnamen nicht erlaubt ist.",
	registrar.NameNotASCII:     "Bei der Suche darf der Name nur a–z, 0–9 und Bindestriche enthalten. Namen mit Umlauten können Sie einzeln prüfen.",

	contentTypeNotJSON:       "Bitte senden Sie die Anfrage als JSON (Content-Type: application/json).",
	bodyTooLarge:             "Die Anfrage ist zu groß. Erlaubt sind höchstens 16 KiB.",
	bodyUnreadable:           "Die Anfrage ist nicht vollständig angekommen. Bitte senden Sie sie noch einmal.",
	bodyEmpty:                "Die Anfrage ist leer. Erwartet wird ein JSON-Objekt.",
	bodyBroken:               "Die Anfrage ist kein gültiges JSON.",
	bodyNoObject:             "Die Anfrage muss ein JSON-Objekt sein.",
	missingField("domain"):   "Das Feld „domain“ fehlt. Bitte geben Sie darin den vollständigen Namen an, zum Beispiel beispiel.de.",
	missingField("query"):    "Das Feld „query“ fehlt. Bitte geben Sie darin den gesuchten Namen an.",
	wrongTypeField("domain"): "Das Feld „domain“ muss eine Zeichenkette sein.",
	wrongTypeField("query"):  "Das Feld „query“ muss eine Zeichenkette sein.",
	NoSuchPath:               "Diese Adresse gibt es nicht. Die Beschreibung der Schnittstelle steht unter /openapi.json.",
	NoSuchMethod:             "Diese Methode ist hier nicht erlaubt. Welche es sind, steht im Kopf „Allow“.",
	registrar.FaultTimeout:   "Die Registry hat nicht rechtzeitig geantwortet. Bitte versuchen Sie es in Kürze noch einmal.",
	registrar.FaultRefused:   "Die Registry ist zurzeit nicht erreichbar. Bitte versuchen Sie es in Kürze noch einmal.",
	registrar.FaultThrottled: "Die Registry nimmt zurzeit keine weiteren Abfragen an. Bitte versuchen Sie es in einigen Minuten noch einmal.",
	registrar.FaultBroken:    "Die Registry hat unverständlich geantwortet. Bitte versuchen Sie es später noch einmal.",
	registrar.FaultBusy:      "Es laufen zurzeit zu viele Abfragen. Bitte versuchen Sie es in einigen Sekunden noch einmal.",
}

const (
	messageInternal         = "Das hat leider nicht geklappt; der Fehler liegt bei uns. Bitte versuchen Sie es später noch einmal."
	messageRetryInOneSecond = "Sie haben das Abfragelimit erreicht. Bitte versuchen Sie es in einer Sekunde noch einmal."
	messageRetryInSeconds   = "Sie haben das Abfragelimit erreicht. Bitte versuchen Sie es in %d Sekunden noch einmal."
	messageRetryInMinutes   = "Sie haben das Abfragelimit erreicht. Bitte versuchen Sie es in %d Minuten noch einmal."
)

func message(err error) string {
	e, ok := errors.AsType[*registrar.Error](err)
	switch {
	case !ok:
		return messageInternal
	case e.Kind == registrar.KindRateLimited:
		return rateLimitMessage(seconds(e.RetryAfter))
	}
	return cmp.Or(messages[e.Code], messageInternal)
}

func rateLimitMessage(wait int64) string {
	switch {
	case wait <= 1:
		return messageRetryInOneSecond
	case wait <= 120:
		return fmt.Sprintf(messageRetryInSeconds, wait)
	default:
		return fmt.Sprintf(messageRetryInMinutes, (wait+59)/60)
	}
}
