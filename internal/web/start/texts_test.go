package start

import (
	"testing"

	"github.com/dotkontor/dotkontor/test/texts"
)

func TestBothLanguagesHaveTheSameTexts(t *testing.T) {
	t.Parallel()
	texts.Same(t, german, english)
}

// byCode are the texts that are found by what a service or a list says.
var byCode = []string{"problem.", "rule.", "sale.", "hit.", "category.", "sort.", "client."}

func TestEveryTextThatAPageNamesExistsAndIsNamed(t *testing.T) {
	t.Parallel()
	texts.Named(t, german, byCode)
}
