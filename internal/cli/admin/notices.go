package admin

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/legal"
)

type NoticesCommand struct {
	List noticesListCommand `cmd:"" help:"List withdrawals and terminations, oldest first."`
	Done noticesDoneCommand `cmd:"" help:"Mark a notice as done."`
}

type noticesListCommand struct {
	cli.ServiceFlags
	Open bool `help:"List only open notices."`
	JSON bool `name:"json" help:"Print one JSON array."`
}

func (c noticesListCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		notices, err := withdrawal.New(withdrawal.Config{Store: d.Services.DB})
		if err != nil {
			return err
		}
		list := newList(t, c.JSON, "%-30s  %-20s  %-10s  %-11s  %-10s  %-5s  %-18s  %-24s  %-28s  %s",
			"ID", "Received", "Due", "Kind", "End", "State", "Consent", "Contract", "Email", "Name")
		next := func(last string, limit int) ([]withdrawal.Notice, error) {
			return d.Services.DB.ListWithdrawalNotices(d.Ctx, last, limit)
		}
		return list.end(eachRow(next, func(one withdrawal.Notice) string { return one.ID }, func(one withdrawal.Notice) error {
			if c.Open && !one.DoneAt.IsZero() {
				return nil
			}
			orders, err := notices.ListRelatedOrders(d.Ctx, one)
			if err == nil {
				list.addNotice(one, orders[0])
			}
			return err
		}))
	})
}

// noticeOrder is an order with the time of the consumer's consent to early performance,
// null if there was none.
type noticeOrder struct {
	ID        string     `json:"id"`
	PaidAt    *time.Time `json:"paidAt"`
	ConsentAt *time.Time `json:"consentAt"`
	Wording   string     `json:"wording,omitempty"`
}

func (l *list) addNotice(one withdrawal.Notice, related []withdrawal.RelatedOrder) {
	state := "open"
	var doneAt *time.Time
	if !one.DoneAt.IsZero() {
		state, doneAt = "done", &one.DoneAt
	}
	// For each order that a withdrawal may refer to, the date of the consent.
	var orders []noticeOrder
	var consents []string
	for _, o := range related {
		orders = append(orders, noticeOrder{o.ID, jsonTime(o.PaidAt), jsonTime(o.ConsentAt), o.ConsentVersion})
		consent := "none"
		if !o.ConsentAt.IsZero() {
			consent = formatDate(o.ConsentAt)
		}
		consents = append(consents, consent)
	}
	consent := "-"
	if one.Kind == withdrawal.Withdrawal {
		consent = cmp.Or(strings.Join(consents, ","), "?")
	}
	deadline := one.Deadline().Format(time.DateOnly)
	l.add(struct {
		ID         string            `json:"id"`
		Kind       withdrawal.Kind   `json:"kind"`
		ReceivedAt time.Time         `json:"receivedAt"`
		Name       string            `json:"name"`
		Email      string            `json:"email"`
		Contract   string            `json:"contract"`
		Ground     withdrawal.Ground `json:"ground,omitempty"`
		Reason     string            `json:"reason,omitempty"`
		End        string            `json:"end,omitempty"`
		Deadline   string            `json:"deadline"`
		DoneAt     *time.Time        `json:"doneAt,omitempty"`
		DoneBy     string            `json:"doneBy,omitempty"`
		DoneNote   string            `json:"doneNote,omitempty"`
		Orders     []noticeOrder     `json:"orders,omitempty"`
	}{one.ID, one.Kind, one.At, one.Name, one.Email, one.Contract, one.Ground, one.Reason, one.End, deadline, doneAt, one.DoneBy, one.DoneNote, orders},
		one.ID, one.At.Format(time.RFC3339), deadline, one.Kind, cmp.Or(one.End, "-"), state, consent,
		cli.Printable(one.Contract), cli.Printable(one.Email), cli.Printable(one.Name))
}

type noticesDoneCommand struct {
	cli.ServiceFlags
	ID    string `arg:"" help:"The notice's ID (dcl_…)."`
	Note  string `help:"What was done about it; stored as evidence." default:"Closed at the command line."`
	Reply string `help:"A text for the sender. Without it and --end, the sender gets no mail."`
	End   string `help:"The day on which a terminated contract ends, which the mail to the sender states: from the arrival of the notice to the end of the paid term." placeholder:"YYYY-MM-DD"`
}

func (c noticesDoneCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		notices, err := withdrawal.New(withdrawal.Config{Store: d.Services.DB})
		if err != nil {
			return err
		}
		err = notices.Close(d.Ctx, d.Operator, c.ID, withdrawal.Closing{Note: c.Note, Reply: c.Reply, End: c.End})
		return d.Report(err, "done: %s", c.ID)
	})
}

type TextsCommand struct {
	Folder string `arg:"" help:"Target folder; created if missing. Existing files are kept."`
}

func (c TextsCommand) Run(t *cli.Terminal) error {
	written, err := legal.WriteDefaultTexts(c.Folder)
	for _, file := range written {
		fmt.Fprintln(t.Out, file)
	}
	return err
}
