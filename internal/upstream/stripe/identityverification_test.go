package stripe

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestOpenVerification_RequestsDocumentAndOmitsEmail(t *testing.T) {
	t.Parallel()
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		session, url, err := c.OpenVerification(t.Context(), "ver_1", "customer_1", "person@example.org", "de", "https://domains.example/back")
		if err != nil || session != "vs_1" || url != "https://verify.stripe.com/start/x" {
			t.Fatalf("got %q, %q, %v", session, url, err)
		}
		form := s.sent[0].form
		if s.sent[0].key != "ver_1" || form.Get("type") != "document" || form.Get("return_url") != "https://domains.example/back" ||
			form.Get("metadata[customer]") != "customer_1" || form.Get("metadata[verification]") != "ver_1" || form.Get("client_reference_id") != "customer_1" {
			t.Errorf("sent %+v", s.sent[0])
		}
		for name, values := range form {
			for _, value := range values {
				if value == "person@example.org" {
					t.Errorf("%s sends the mail address to Stripe", name)
				}
			}
		}
	}, ok(`{"id":"vs_1","status":"requires_input","url":"https://verify.stripe.com/start/x"}`))
}

func TestFetchVerification_MapsEachStatus(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]order.Verification{
		`{"id":"vs_1","status":"requires_input","url":"https://verify.stripe.com/x"}`:                            {URL: "https://verify.stripe.com/x"},
		`{"id":"vs_1","status":"processing"}`:                                                                    {},
		`{"id":"vs_1","status":"canceled"}`:                                                                      {Failed: true, Failure: VerificationCanceled},
		`{"id":"vs_1","status":"verified","verified_outputs":{"first_name":" Erika ","last_name":"Mustermann"}}`: {Done: true, Name: "Erika Mustermann"},
		`{"id":"vs_1","status":"verified","verified_outputs":{"last_name":"Madonna"}}`:                           {Done: true, Name: "Madonna"},
		`{"id":"vs_1","status":"verified","verified_outputs":null}`:                                              {Failed: true, Failure: VerificationWithoutName},
		`{"id":"vs_1","status":"requires_input","url":"https://verify.stripe.com/x","last_error":{"code":"document_expired","reason":"person@example.org"}}`: {
			Failed: true, Failure: "document_expired", URL: "https://verify.stripe.com/x",
		},
		`{"id":"vs_1","status":"requires_input","last_error":{"code":"a sentence, person@example.org"}}`: {Failed: true, Failure: VerificationFailed},
	} {
		withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
			got, err := c.FetchVerification(t.Context(), "vs_1")
			if err != nil || got != want {
				t.Errorf("%s: got %+v, %v", answer, got, err)
			}
			if s.sent[0].form.Get("expand[0]") != "verified_outputs" {
				t.Errorf("sent %+v", s.sent[0])
			}
		}, ok(answer))
	}
	withScript(t, func(t *testing.T, c *Client, _ *scriptedTransport) {
		if got, err := c.FetchVerification(t.Context(), "vs_1"); registrar.CodeOf(err) != registrar.FaultBroken {
			t.Errorf("got %+v, %v", got, err)
		}
	}, ok(`{"id":"vs_1","status":"new_status"}`))
}
