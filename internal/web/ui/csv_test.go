package ui

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestCSVLine_SeparatesAsSpreadsheetsOfTheLanguageExpect(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{
		German:  "Müller, Söhne;-1,50;\"a;b\"\r\n",
		English: "\"Müller, Söhne\",-1.50,a;b\r\n",
	} {
		line, err := CSVLine(language, []string{"Müller, Söhne", CSVAmount(language, registrar.Cents(-150)), "a;b"})
		if err != nil || string(line) != want {
			t.Errorf("%s: %q %v, want %q", language, line, err, want)
		}
	}
}

func TestCSVLine_FormulasAreText(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"=1+1": "'=1+1", "+49": "'+49", "-2+3": "'-2+3", "@SUM(A1)": "'@SUM(A1)", "-1.5,2": "'-1.5,2", "-": "'-", "-12": "-12", "-12,00": "-12,00", "a=b": "a=b",
	} {
		if got := harmless(cell); got != want {
			t.Errorf("%q becomes %q, want %q", cell, got, want)
		}
	}
}
