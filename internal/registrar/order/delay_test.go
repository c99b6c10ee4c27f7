package order_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// delayedMails returns the mails about a delay.
func (env *testEnv) delayedMails() (mails []registrar.Mail) {
	for _, mail := range env.store.mails {
		if mail.Kind == registrar.MailOrderDelayed {
			mails = append(mails, mail)
		}
	}
	return mails
}

func TestRun_DelayedOrderIsMailedOnceAfterFourHours(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o, _ := env.createPaidOrder(newRequest(order.Register, "laden", "haus"))
		nodes := []*order.Service{env.service, env.startNode("other")}
		run := func(duration time.Duration) {
			var running sync.WaitGroup
			for _, node := range nodes {
				running.Go(func() { env.runFor(node, duration) })
			}
			running.Wait()
		}
		run(time.Hour)
		env.store.endItem("haus.de", order.ItemActive, time.Now())
		run(3*time.Hour - time.Minute)
		if mails := env.delayedMails(); len(mails) != 0 {
			t.Fatalf("too early: %+v", mails)
		}
		run(2 * time.Minute)
		run(48 * time.Hour)
		mails := env.delayedMails()
		if len(mails) != 1 || mails[0].Data["items"] != "1" || mails[0].Data["item1_name"] != "laden.de" || mails[0].Data["gross"] != o.Totals.Gross.String() || mails[0].ID != "mail_delayed_"+o.ID {
			t.Errorf("%+v", mails)
		}
		env.store.endItem("laden.de", order.ItemActive, time.Now())
		run(time.Minute)
		env.wantState(o.ID, order.Completed)
		if len(env.delayedMails()) != 1 {
			t.Error("mailed again")
		}
	})
}

func TestRun_TransferOfDaysIsNotMailedAsDelayed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		request := newRequest(order.Transfer, "laden")
		request.Channel, request.Items[0].Code = order.ChannelPortal, "right"
		o, _ := env.createPaidOrder(request)
		env.runFor(env.service, 48*time.Hour)
		env.wantState(o.ID, order.Provisioning)
		if mails := env.delayedMails(); len(mails) != 0 {
			t.Errorf("%+v", mails)
		}
	})
}
