package site

import (
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit/textcheck"
)

func TestTexts_SamePlaceholdersInBothLanguages(t *testing.T) {
	t.Parallel()
	textcheck.CheckTranslations(t, texts)
}

// dynamicKeys are the prefixes of texts that are chosen at run time.
var dynamicKeys = []string{"problem.", "rule.", "sale.", "hit.", "category.", "sort.", "client."}

func TestTexts_EveryReferencedKeyExists(t *testing.T) {
	t.Parallel()
	textcheck.CheckKeys(t, texts, dynamicKeys)
}
