package whois

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

type dateOrder uint8

const (
	orderUnknown dateOrder = iota
	dayFirst
	monthFirst
)

// dayFirstCountries write day, month, year in numeric dates.
var dayFirstCountries = strings.Fields("fr re pm tf wf yt lu hk pt tn it ie mo gp mq gf br nc pf sn ci be es ro gr cy mc ma dz ml tg uk gg je im il za sm")

// orderOf reads a hint in a field name: "created (dd/mm/yyyy)".
func orderOf(key string) dateOrder {
	open := strings.IndexByte(key, '(')
	if open < 0 {
		return orderUnknown
	}
	switch hint := strings.ToLower(key[open:]); {
	case strings.HasPrefix(hint, "(dd"), strings.HasPrefix(hint, "(jj"), strings.HasPrefix(hint, "(tt"):
		return dayFirst
	case strings.HasPrefix(hint, "(mm"):
		return monthFirst
	}
	return orderUnknown
}

// orderIn finds the order that the dates of one response share: one with a day
// beyond 12 determines it for all.
func orderIn(a answer, name string) dateOrder {
	for i := range a.lines {
		l := &a.lines[i]
		if l.cat != catCreated && l.cat != catExpires && l.cat != catUpdated {
			continue
		}
		if l.order != orderUnknown {
			return l.order
		}
		s := dateScanner{rest: l.value}
		if first, second, ok := s.twoNumbers(); ok {
			switch {
			case first > 12 && second <= 12:
				return dayFirst
			case second > 12 && first <= 12:
				return monthFirst
			}
		}
	}
	if slices.Contains(dayFirstCountries, name[strings.LastIndexByte(name, '.')+1:]) {
		return dayFirst
	}
	return orderUnknown
}

const (
	minYear = 1980
	maxYear = 2150
)

// parseDate parses the date formats of registries and rejects ambiguous values. A time
// without a zone, or with an unknown one, is UTC.
func parseDate(value string, order dateOrder) (time.Time, bool) {
	value = strings.TrimSpace(value)
	s := dateScanner{rest: value[:min(len(value), 120)]}
	s.skipMail()
	s.clock() // some write the time first
	s.weekday()
	if !s.date(order) {
		return time.Time{}, false
	}
	if s.year == 0 { // "Mon Jan 2 15:04:05 MST 2006"
		s.clock()
		s.zone()
		s.separators(between)
		digits := 0
		if s.year, digits = s.number(4); digits != 4 {
			return time.Time{}, false
		}
	}
	if !s.timed {
		s.clock()
	}
	if s.timed {
		s.zone()
	}
	return s.result()
}

// dateScanner parses a date from left to right.
type dateScanner struct {
	rest                       string
	year, month, day           int
	hour, minute, second, nano int
	timed                      bool
	location                   *time.Location
}

func (s *dateScanner) result() (time.Time, bool) {
	if s.year < minYear || s.year > maxYear || s.month < 1 || s.month > 12 || s.day < 1 {
		return time.Time{}, false
	}
	if s.location == nil {
		s.location = time.UTC
	}
	if s.hour == 24 && s.minute == 0 && s.second == 0 {
		s.hour, s.minute, s.second = 23, 59, 59 // the end of that day
	}
	t := time.Date(s.year, time.Month(s.month), s.day, s.hour, s.minute, s.second, s.nano, s.location)
	return t, t.Day() == s.day && t.Hour() == s.hour
}

// skipMail skips mail addresses before a date, as in RIPE's "changed".
func (s *dateScanner) skipMail() {
	for {
		first, after, found := strings.Cut(s.rest, " ")
		if !found || !strings.Contains(first, "@") {
			return
		}
		s.rest = strings.TrimSpace(after)
	}
}

// number reads up to most digits.
func (s *dateScanner) number(most int) (value, digits int) {
	for digits < len(s.rest) && s.rest[digits] >= '0' && s.rest[digits] <= '9' {
		if digits < most {
			value = value*10 + int(s.rest[digits]-'0')
		}
		digits++
	}
	if digits > most {
		return 0, 0
	}
	s.rest = s.rest[digits:]
	return value, digits
}

func (s *dateScanner) word() string {
	end := strings.IndexFunc(s.rest, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		end = len(s.rest)
	}
	word := strings.ToLower(s.rest[:end])
	s.rest = s.rest[end:]
	return word
}

// separators reads the characters between the parts of a date.
func (s *dateScanner) separators(set string) string {
	trimmed := strings.TrimLeft(s.rest, set)
	taken := s.rest[:len(s.rest)-len(trimmed)]
	s.rest = trimmed
	return taken
}

const between = " \t-./,"

// monthNames are in the languages of registries, without accents, and without names
// that mean different months in two of them (listopad).
var monthNames = func() map[string]int {
	table := make(map[string]int)
	for month, names := range []string{
		"jan january januar janner januari janvier janv enero ene janeiro gennaio gen styczen stycznia ledna sausio tammikuu",
		"feb february februar februari fevrier fevr fev febrero fevereiro febbraio luty lutego unora",
		"mar march marz maart mars marzo marco mart marzec marca brezna",
		"apr april avril avr abril abr aprile kwiecien kwietnia dubna",
		"may mai mei maj mayo maio maggio mag maja kvetna",
		"jun june juni juin junio junho giugno giu czerwiec czerwca cervna",
		"jul july juli juillet juil julio julho luglio lug lipiec lipca cervence",
		"aug august augustus aout agosto ago sierpien sierpnia srpna",
		"sep sept september septembre septiembre setiembre setembro set settembre wrzesien wrzesnia zari",
		"oct october oktober okt octobre octubre outubro out ottobre ott pazdziernik pazdziernika rijna",
		"nov november novembre noviembre novembro",
		"dec december dezember dez decembre diciembre dic dezembro dicembre grudzien grudnia prosince",
	} {
		for name := range strings.FieldsSeq(names) {
			table[name] = month + 1
		}
	}
	return table
}()

func (s *dateScanner) weekday() {
	before := s.rest
	switch word := s.word(); word {
	case "mon", "tue", "wed", "thu", "fri", "sat", "sun", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "tues", "thur", "thurs":
		s.separators(between)
	default:
		s.rest = before
	}
}

// date reads year, month and day; the year may follow later.
func (s *dateScanner) date(order dateOrder) bool {
	if s.rest == "" {
		return false
	}
	if s.rest[0] < '0' || s.rest[0] > '9' {
		return s.monthNameFirst()
	}
	first, digits := s.number(14)
	switch digits {
	case 14:
		s.hour, s.minute, s.second, s.timed = first/10000%100, first/100%100, first%100, true
		first /= 1000000
		fallthrough
	case 8:
		s.year, s.month, s.day = first/10000, first/100%100, first%100
		return s.ended() && s.hour < 24 && s.minute < 60 && s.second < 60
	case 4:
		s.year = first
		if s.separators(between+"년年") == "" || !s.monthPart() || s.separators(between+"월月") == "" {
			return false
		}
		if s.day, digits = s.number(2); digits == 0 {
			return false
		}
		s.separators(".일日")
		return s.ended()
	case 1, 2:
		return s.dayOrMonth(first, order)
	}
	return false
}

// monthPart reads a month as a number or a name.
func (s *dateScanner) monthPart() bool {
	if value, digits := s.number(2); digits > 0 {
		s.month = value
		return true
	}
	return s.monthName()
}

func (s *dateScanner) monthName() bool {
	s.month = monthNames[accentStripper.Replace(s.word())]
	return s.month > 0
}

// monthNameFirst reads "January 2 2006" and "Jan 2 15:04:05 2006".
func (s *dateScanner) monthNameFirst() bool {
	if !s.monthName() || s.separators(between) == "" {
		return false
	}
	digits := 0
	if s.day, digits = s.number(2); digits == 0 {
		return false
	}
	s.ordinal()
	s.separators(between)
	before := s.rest
	year, digits := s.number(4)
	if digits == 4 && !strings.HasPrefix(s.rest, ":") {
		s.year = year
		return s.ended()
	}
	s.rest = before
	return true
}

// dayOrMonth reads a date that begins with a number of two digits.
func (s *dateScanner) dayOrMonth(first int, order dateOrder) bool {
	s.ordinal()
	separator := s.separators(between)
	if separator == "" {
		return false
	}
	second, digits := s.number(2)
	if digits == 0 {
		s.rest = strings.TrimPrefix(s.rest, "de ") // 2 de enero de 2006
		if !s.monthName() {
			return false
		}
		s.day = first
	} else if !s.chooseOrder(first, second, separator, order) {
		return false
	}
	s.separators(between)
	s.rest = strings.TrimPrefix(s.rest, "de ")
	year, digits := s.number(4)
	s.year = year
	return digits == 4 && s.ended()
}

// chooseOrder rejects ambiguous dates. With dots the day always comes first.
func (s *dateScanner) chooseOrder(first, second int, separator string, order dateOrder) bool {
	switch {
	case separator == "." || separator == ". " || order == dayFirst && second <= 12:
		s.day, s.month = first, second
	case order == monthFirst && first <= 12:
		s.month, s.day = first, second
	case first > 12, first == second:
		s.day, s.month = first, second
	case second > 12:
		s.month, s.day = first, second
	default:
		return false
	}
	return true
}

// twoNumbers reads the first two parts of 01/02/2003 to determine the order.
func (s *dateScanner) twoNumbers() (first, second int, ok bool) {
	s.rest = strings.TrimSpace(s.rest)
	first, digits := s.number(2)
	if digits == 0 || s.separators("-/") == "" {
		return 0, 0, false
	}
	if second, digits = s.number(2); digits == 0 || s.separators("-/") == "" {
		return 0, 0, false
	}
	_, digits = s.number(4)
	return first, second, digits == 4
}

func (s *dateScanner) ordinal() {
	if len(s.rest) >= 2 && slices.Contains([]string{"st", "nd", "rd", "th"}, s.rest[:2]) {
		s.rest = s.rest[2:]
	}
}

// ended reports whether no digit or letter follows, except the T of ISO 8601.
func (s *dateScanner) ended() bool {
	if s.rest == "" {
		return true
	}
	c := s.rest[0]
	if c == 'T' || c == 't' {
		return len(s.rest) > 1 && s.rest[1] >= '0' && s.rest[1] <= '9'
	}
	return c == 'Z' || c == ':' || strings.IndexByte(between+";_()[]#+", c) >= 0 || c >= 0x80
}
