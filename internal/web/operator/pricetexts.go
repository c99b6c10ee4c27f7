package operator

import (
	"fmt"

	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// germanListProblems are the formats of the errors in a price list, by their English ones.
var germanListProblems = map[string]string{
	"the first line must be: %s, optionally with %s": "Die erste Zeile muss lauten: %s, auf Wunsch auch mit %s",
	"more than %d rows":                                  "Mehr als %d Zeilen",
	"the file is larger than %d bytes":                   "Die Datei ist größer als %d Byte",
	"the list has no rows":                               "Die Liste hat keine Zeilen",
	"the file can't be read: %s":                         "Die Datei ist nicht lesbar (%s)",
	"a row has %d fields, separated by commas":           "Eine Zeile hat %d Felder, getrennt durch Kommas",
	"a field has misplaced quotes":                       "In einem Feld stehen Anführungszeichen an der falschen Stelle",
	"%s is already in line %d":                           "%s steht schon in Zeile %d",
	"%d is more than max_years %d":                       "%d ist mehr als max_years %d",
	"%q is not a currency like EUR":                      "%q ist keine Währung wie EUR",
	"%q is not an amount like 12.90":                     "%q ist kein Betrag wie 12.90",
	"is missing for %s":                                  "fehlt für %s",
	"%q must begin with a dot":                           "%q muss mit einem Punkt beginnen",
	"%q is not an extension in lower case (IDN as xn--)": "%q ist keine Endung in Kleinbuchstaben (IDN als xn--)",
	"%q is not a price like 12.90, or is too high":       "%q ist kein Preis wie 12.90, oder er ist zu hoch",
	"%q is not a number of years from 1 to %d":           "%q ist keine Anzahl von Jahren zwischen 1 und %d",
	"%q is neither empty nor yes":                        "%q ist weder leer noch yes",
	"%q may hold only a-z, 0-9 and _":                    "%q darf nur a-z, 0-9 und _ enthalten",
	"%q is not a plain web address":                      "%q ist keine einfache Webadresse",
	"%q must begin with https://":                        "%q muss mit https:// beginnen",
	"%q must end with a slash":                           "%q muss mit einem Schrägstrich enden",
	"%q is not a host or host:port":                      "%q ist kein Host und kein Host:Port",
}

// listProblem is an error in a price list in the visitor's language.
func listProblem(language string, p catalog.Problem) string {
	format, known := germanListProblems[p.Format]
	if language != ui.German || !known {
		return p.String()
	}
	text := fmt.Sprintf(format, p.Args...)
	if p.Column == "" {
		return fmt.Sprintf("Zeile %d: %s", p.Line, text)
	}
	return fmt.Sprintf("Zeile %d, %s: %s", p.Line, p.Column, text)
}
