package ui

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"regexp"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// ServeCSV serves rows as a file for spreadsheets.
func ServeCSV(req *Request, name string, rows [][]string) error {
	// A spreadsheet would otherwise read umlauts in its own encoding.
	file := []byte("\ufeff")
	for _, row := range rows {
		line, err := CSVLine(req.Language, row)
		if err != nil {
			return err
		}
		file = append(file, line...)
	}
	req.W.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	httpjson.WriteBytes(req.W, http.StatusOK, []string{"text/csv; charset=utf-8"}, file)
	return nil
}

// CSVLine encodes a row (RFC 4180). German spreadsheets expect semicolons, because their numbers
// have commas. A cell that a spreadsheet would take for a formula is prefixed.
func CSVLine(language string, cells []string) ([]byte, error) {
	var line bytes.Buffer
	w := csv.NewWriter(&line)
	w.UseCRLF = true
	if language == German {
		w.Comma = ';'
	}
	escaped := make([]string, len(cells))
	for i, cell := range cells {
		escaped[i] = harmless(cell)
	}
	err := w.Write(escaped)
	w.Flush()
	return line.Bytes(), err
}

// CSVAmount formats an amount as a number of a spreadsheet, without a currency.
func CSVAmount(language string, amount registrar.Cents) string {
	if language == German {
		return strings.Replace(amount.String(), ".", ",", 1)
	}
	return amount.String()
}

var negativeNumber = regexp.MustCompile(`^-[0-9]+([.,][0-9]+)?$`)

// harmless prefixes a cell that a spreadsheet would take for a formula. A negative number is left as it is.
func harmless(cell string) string {
	if cell == "" || !strings.ContainsRune("=+-@\t\r\n", rune(cell[0])) {
		return cell
	}
	if negativeNumber.MatchString(cell) {
		return cell
	}
	return "'" + cell
}
