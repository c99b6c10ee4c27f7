package whois

import (
	"strings"
	"time"
)

// clock reads hh:mm[:ss[.fff]] if it comes next.
func (s *dateScanner) clock() {
	before := *s
	s.separators(" \tTt,;_-(")
	hour, digits := s.number(2)
	if digits == 0 || !strings.HasPrefix(s.rest, ":") {
		*s = before
		return
	}
	s.rest = s.rest[1:]
	minute, digits := s.number(2)
	if digits != 2 || hour > 24 || minute > 59 {
		*s = before
		return
	}
	s.hour, s.minute, s.timed = hour, minute, true
	if rest, found := strings.CutPrefix(s.rest, ":"); found {
		s.rest = rest
		if s.second, digits = s.number(2); digits == 0 || s.second > 60 {
			*s = before
			return
		}
		s.second = min(s.second, 59)
	}
	s.fraction()
	s.halfDay()
	s.separators(" \t")
}

func (s *dateScanner) fraction() {
	if len(s.rest) < 2 || s.rest[0] != '.' || s.rest[1] < '0' || s.rest[1] > '9' {
		return
	}
	s.rest = s.rest[1:]
	scale := int(time.Second)
	for s.rest != "" && s.rest[0] >= '0' && s.rest[0] <= '9' {
		scale /= 10
		s.nano += int(s.rest[0]-'0') * scale
		s.rest = s.rest[1:]
	}
}

func (s *dateScanner) halfDay() {
	before := s.rest
	s.separators(" ")
	switch s.word() {
	case "am":
		s.hour %= 12
	case "pm":
		s.hour = s.hour%12 + 12
	default:
		s.rest = before
	}
}

// zone reads Z, +02:00, UTC, (UTC+8) and the abbreviations that mean one offset.
func (s *dateScanner) zone() {
	s.separators(" \t(")
	before := s.rest
	if word := s.word(); word != "" {
		hours, known := zones[word]
		if !known {
			s.rest = before // the year, or a remark
			return
		}
		s.location = fixed(int(hours * 3600))
		s.separators(" ")
	}
	sign := 1
	switch {
	case strings.HasPrefix(s.rest, "-"):
		sign = -1
	case !strings.HasPrefix(s.rest, "+"):
		return
	}
	s.rest = s.rest[1:]
	value, digits := s.number(4)
	minutes := 0
	switch {
	case digits > 2:
		value, minutes = value/100, value%100
	case digits == 0:
		return
	default:
		if rest, found := strings.CutPrefix(s.rest, ":"); found {
			s.rest = rest
			minutes, _ = s.number(2)
		}
	}
	if value <= 14 && minutes < 60 {
		s.location = fixed(sign * (value*3600 + minutes*60))
	}
}

func fixed(offset int) *time.Location {
	if offset == 0 {
		return time.UTC
	}
	return time.FixedZone("", offset)
}

// zones maps abbreviations to their offset in hours. With an ambiguous one (IST, CST,
// BST, AST) the time is read as UTC, which is off by hours but not by days.
var zones = map[string]float64{
	"z": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 1, "cet": 1, "cest": 2, "eet": 2, "eest": 3, "msk": 3, "msd": 4, "trt": 3,
	"jst": 9, "kst": 9, "hkt": 8, "sgt": 8, "myt": 8, "ict": 7, "wib": 7, "pht": 8, "awst": 8, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13,
	"clt": -4, "clst": -3, "brt": -3, "brst": -2, "est": -5, "edt": -4, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "akst": -9, "hst": -10,
	"eat": 3, "cat": 2, "wat": 1, "sast": 2, "pkt": 5, "almt": 6, "uzt": 5, "tmt": 5, "irst": 3.5, "npt": 5.75,
}
