package whois

import "strings"

// zones maps unambiguous abbreviations to their offset in hours. Ambiguous ones
// (IST, CST, BST, AST) are omitted: the time is then read as UTC, which is off by
// hours but not by days.
var zones = map[string]float64{
	"z": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 1, "cet": 1, "cest": 2, "eet": 2, "eest": 3, "msk": 3, "msd": 4, "trt": 3,
	"jst": 9, "kst": 9, "hkt": 8, "sgt": 8, "myt": 8, "ict": 7, "wib": 7, "pht": 8, "awst": 8, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13,
	"clt": -4, "clst": -3, "brt": -3, "brst": -2, "est": -5, "edt": -4, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "akst": -9, "hst": -10,
	"eat": 3, "cat": 2, "wat": 1, "sast": 2, "pkt": 5, "almt": 6, "uzt": 5, "tmt": 5, "irst": 3.5, "npt": 5.75,
}

// monthNames are the names and abbreviations of months, without accents, in the
// languages of registries. Names that mean different months in two languages
// (listopad) are omitted.
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
