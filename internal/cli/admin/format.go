package admin

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
)

// formatTime formats a time for lists, with a dash for never.
func formatTime(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.UTC().Format("2006-01-02 15:04")
}

// jsonTime converts a time for JSON, with null for never.
func jsonTime(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC().Truncate(time.Second)
	return &at
}

// formatDate formats a date for lists, with a dash for none.
func formatDate(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.UTC().Format(time.DateOnly)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return cli.Printable(text)
}
