package registrar

import (
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // also without zone files on the machine
)

// Germany is the time zone that decides on which day an invoice was issued or a VAT rate
// applied. Mails show its time, and so do pages without script.
var Germany = sync.OnceValue(func() *time.Location {
	germany, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err) // the zone is part of the binary
	}
	return germany
})

// LastFullDay returns the last day in Germany on which what ends at a time is possible from morning to
// night, as the beginning of that day in UTC; zero for the zero time.
func LastFullDay(end time.Time) time.Time {
	if end.IsZero() {
		return end
	}
	year, month, day := end.In(Germany()).Date()
	return time.Date(year, month, day-1, 0, 0, 0, 0, time.UTC)
}

var germanZones = strings.NewReplacer("CEST", "MESZ", "CET", "MEZ")

// FormatInGermany formats a time in Germany. A layout with MST names the zone, in German texts MEZ
// or MESZ.
func FormatInGermany(at time.Time, layout, language string) string {
	text := at.In(Germany()).Format(layout)
	if language == "de" {
		return germanZones.Replace(text)
	}
	return text
}
