package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// session is what we read of a checkout session.
type session struct {
	ID           string `json:"id"`
	Status       string `json:"status"`
	ContinueURL  string `json:"continue_url"`
	Capabilities struct {
		Payment struct {
			Handlers []struct {
				ID string `json:"id"`
			} `json:"handlers"`
		} `json:"payment"`
	} `json:"capabilities"`
	Totals []struct {
		Type   string `json:"type"`
		Text   string `json:"display_text"`
		Amount int64  `json:"amount"`
	} `json:"totals"`
	Messages []struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	} `json:"messages"`
	Order struct {
		Status string `json:"status"`
		Lines  []struct {
			Title    string `json:"title"`
			Status   string `json:"status"`
			Quantity struct {
				Current   int `json:"current"`
				Fulfilled int `json:"fulfilled"`
			} `json:"quantity"`
		} `json:"line_items"`
	} `json:"order"`
}

// object is a JSON object that we send.
type object map[string]any

// sessionRequest is the body that creates a session: items, buyer and registrant.
func (s settings) sessionRequest() object {
	return object{
		"currency":   "eur",
		"line_items": []object{{"id": "register:" + s.name}},
		"buyer":      object{"first_name": "Erika", "last_name": "Mustermann", "email": s.email, "phone_number": "+49.30123456"},
		"fulfillment_details": object{
			"name": "Erika Mustermann", "email": s.email, "phone_number": "+49.30123456",
			"address": object{
				"name": "Erika Mustermann", "line_one": "Musterweg 1", "city": "Berlin", "state": "BE", "postal_code": "10115", "country": "DE",
			},
		},
		"capabilities": object{},
		"locale":       "de-DE",
	}
}

// paymentRequest has the buyer's token, for the payment handler that the session offers.
func (s settings) paymentRequest(made session) (object, error) {
	handlers := made.Capabilities.Payment.Handlers
	if len(handlers) == 0 {
		return nil, errors.New("the session offers no payment handler")
	}
	return object{"payment_data": object{
		"handler_id": handlers[0].ID,
		"instrument": object{"type": "card", "credential": object{"type": "spt", "token": s.token}},
	}}, nil
}

// buy creates a session, completes it, and waits for the domain.
func (s settings) buy(ctx context.Context, c *client, out io.Writer) error {
	made, err := c.post(ctx, sessionsPath, s.sessionRequest())
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "session: %s\nname: %s\n", made.ID, s.name)
	for _, total := range made.Totals {
		fmt.Fprintf(out, "%s: %d.%02d EUR\n", total.Type, total.Amount/100, total.Amount%100)
	}
	if made.Status != "ready_for_payment" {
		return fmt.Errorf("the session is %s: %s", made.Status, made.firstMessage())
	}
	payment, err := s.paymentRequest(made)
	if err != nil {
		return err
	}
	paid, err := c.post(ctx, sessionsPath+"/"+made.ID+"/complete", payment)
	if err != nil {
		return err
	}
	if paid.Status != "completed" {
		fmt.Fprintf(out, "human: %s\ncontinue_url: %s\n", paid.firstMessage(), paid.ContinueURL)
	}
	return s.watch(ctx, c, paid, out)
}

// firstMessage is the first message of the session.
func (s session) firstMessage() string {
	if len(s.Messages) == 0 {
		return ""
	}
	return s.Messages[0].Content
}

// watch prints the progress of the session and its order until the order ends. An
// agent with a webhook does not need to poll.
func (s settings) watch(ctx context.Context, c *client, now session, out io.Writer) error {
	for before := ""; ; {
		if state := now.Status + " " + now.Order.Status; state != before {
			fmt.Fprintf(out, "status: %s, order: %s\n", now.Status, now.Order.Status)
			before = state
		}
		switch {
		case now.Status == "canceled":
			return errors.New("the session was canceled; nothing was charged")
		case now.Status == "completed" && (now.Order.Status == "completed" || now.Order.Status == "canceled"):
			return now.printResult(out)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(s.pollInterval):
		}
		var err error
		if now, err = c.get(ctx, now.ID); err != nil {
			return err
		}
	}
}

// printResult prints the outcome of each item.
func (s session) printResult(out io.Writer) error {
	for _, item := range s.Order.Lines {
		if item.Quantity.Fulfilled < 1 {
			return fmt.Errorf("%s could not be registered; its price is refunded", item.Title)
		}
		fmt.Fprintf(out, "registered: %s\n", item.Title)
	}
	return nil
}
