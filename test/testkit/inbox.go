package testkit

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Mail is a mail in the sandbox's inbox.
type Mail struct {
	ID                  int
	To                  []string
	Subject, Text, HTML string
	Links               []string
}

// Mails returns the mails to an address in the sandbox's inbox at this URL.
func Mails(ctx context.Context, inbox, to string) ([]Mail, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(inbox, "/")+"/api/mails?to="+url.QueryEscape(to), http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var got struct{ Mails []Mail }
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		return nil, fmt.Errorf("testkit: read inbox: status %d: %w", response.StatusCode, err)
	}
	return got.Mails, nil
}

// WaitForMail returns the first mail to an address that matches.
func WaitForMail(t Tester, inbox, to string, matches func(Mail) bool) (found Mail) {
	t.Helper()
	Eventually(t, "mail to "+to, func() bool {
		mails, err := Mails(t.Context(), inbox, to)
		if err != nil {
			t.Fatal(err)
		}
		for _, mail := range mails {
			if matches(mail) {
				found = mail
				return true
			}
		}
		return false
	})
	return found
}
