package registrar

import (
	"sync"
	"time"
	_ "time/tzdata" // also without zone files on the machine
)

// Germany is the time zone that decides on which day an invoice was issued or a VAT rate
// applied. Mails show its time.
var Germany = sync.OnceValue(func() *time.Location {
	germany, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err) // the zone is part of the binary
	}
	return germany
})
