package admin

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

type NoticesCommand struct {
	List noticesListCommand `cmd:"" help:"List withdrawals and terminations, oldest first."`
	Done noticesDoneCommand `cmd:"" help:"Mark one as done."`
}

type noticesListCommand struct {
	cli.ServiceFlags
	Open bool `help:"Only open ones."`
	JSON bool `name:"json" help:"Print one JSON array."`
}

func (c noticesListCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		notices, err := withdrawal.New(withdrawal.Config{Store: d.Services.DB})
		if err != nil {
			return err
		}
		list := newRowPrinter(d.Out, c.JSON, fmt.Sprintf(noticeColumns,
			"ID", "Received", "Kind", "End", "", "Consent", "Contract", "Email", "Name"))
		for last := ""; ; {
			page, err := d.Services.DB.ListWithdrawalNotices(d.Ctx, last, listPageSize)
			if err != nil {
				return err
			}
			for _, one := range page {
				last = one.ID
				if c.Open && !one.DoneAt.IsZero() {
					continue
				}
				orders, err := notices.ListRelatedOrders(d.Ctx, one)
				if err != nil {
					return err
				}
				if err := list.add(newNoticeRow(one, orders)); err != nil {
					return err
				}
			}
			if len(page) < listPageSize {
				return list.end()
			}
		}
	})
}

const noticeColumns = "%-30s  %-20s  %-11s  %-10s  %-4s  %-18s  %-24s  %-28s  %s"

type noticeRow struct {
	ID         string     `json:"id"`
	Kind       string     `json:"kind"`
	ReceivedAt time.Time  `json:"receivedAt"`
	Name       string     `json:"name"`
	Email      string     `json:"email"`
	Contract   string     `json:"contract"`
	Ground     string     `json:"ground,omitempty"`
	Reason     string     `json:"reason,omitempty"`
	End        string     `json:"end,omitempty"`
	DoneAt     *time.Time `json:"doneAt,omitempty"`
	// Orders are those that a withdrawal may refer to.
	Orders []noticeOrder `json:"orders,omitempty"`
}

// noticeOrder is an order with the time of the consumer's consent to early performance,
// null if there was none.
type noticeOrder struct {
	ID        string     `json:"id"`
	PaidAt    *time.Time `json:"paidAt"`
	ConsentAt *time.Time `json:"consentAt"`
	Wording   string     `json:"wording,omitempty"`
}

func newNoticeRow(d withdrawal.Notice, orders []withdrawal.RelatedOrder) noticeRow {
	row := noticeRow{
		ID: d.ID, Kind: string(d.Kind), ReceivedAt: d.At, Name: d.Name, Email: d.Email, Contract: d.Contract,
		Ground: string(d.Ground), Reason: d.Reason, End: d.End,
	}
	if !d.DoneAt.IsZero() {
		row.DoneAt = &d.DoneAt
	}
	for _, one := range orders {
		row.Orders = append(row.Orders, noticeOrder{ID: one.ID, PaidAt: jsonTime(one.PaidAt), ConsentAt: jsonTime(one.ConsentAt), Wording: one.ConsentVersion})
	}
	return row
}

func (r noticeRow) String() string {
	done, end := "open", r.End
	if r.DoneAt != nil {
		done = "done"
	}
	if end == "" {
		end = "-"
	}
	return fmt.Sprintf(noticeColumns, r.ID, r.ReceivedAt.Format(time.RFC3339), r.Kind, end, done, r.consents(),
		cli.Printable(r.Contract), cli.Printable(r.Email), cli.Printable(r.Name))
}

// consents lists the date of the consent to early performance for each related order,
// or "?" if no order matches the notice.
func (r noticeRow) consents() string {
	if r.Kind != string(withdrawal.Withdrawal) {
		return "-"
	}
	dates := make([]string, 0, len(r.Orders))
	for _, one := range r.Orders {
		date := "none"
		if one.ConsentAt != nil {
			date = one.ConsentAt.Format(time.DateOnly)
		}
		dates = append(dates, date)
	}
	return cmp.Or(strings.Join(dates, ","), "?")
}

type noticesDoneCommand struct {
	cli.ServiceFlags
	ID string `arg:"" help:"The id (dcl_…)."`
}

func (c noticesDoneCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		done, err := d.Services.DB.MarkWithdrawalNoticeDone(d.Ctx, c.ID, time.Now())
		if err == nil && !done {
			err = &registrar.Error{Kind: registrar.KindNotFound, Code: withdrawal.NoSuchNotice}
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(d.Out, "done:", c.ID)
		return err
	})
}
