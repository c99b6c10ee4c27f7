package operator

import "github.com/dotkontor/dotkontor/internal/web/ui"

// EnglishText returns the text that operators read for a code, in English; false if there is none.
// The evidence of a dispute has the same words as the pages.
func EnglishText(key string) (string, bool) {
	for _, table := range []ui.Texts{texts, customerTexts, termTexts, listTexts, transferTexts, refundTexts, disputeTexts, errorTexts} {
		if text, known := table[key]; known {
			return text[1], true
		}
	}
	return "", false
}
