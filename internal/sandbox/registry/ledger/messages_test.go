package ledger

import (
	"strings"
	"testing"
)

func TestSendMessages_QueuesAllInOrderOrNone(t *testing.T) {
	t.Parallel()
	l := openTestLedger(t, "")
	all := []MessageRequest{{Kind: MessageText}, {MessageTransfer, "eins.com"}, {Kind: MessageMaintenance}}
	for want, wrong := range map[string]MessageRequest{
		"not a kind of message":   {Kind: "unsinn"},
		"not paid in advance":     {Kind: MessageBalance},
		"no such domain":          {MessageChange, "eins.com"},
		"not a domain name":       {Kind: MessageRefused},
		"does not serve the TLD.": {MessagePerformed, "eins.unknown"},
	} {
		_, err := l.SendMessages("alpha", append(all[:len(all):len(all)], wrong))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", wrong, err, want)
		}
	}
	if _, waiting := l.Queue("alpha"); waiting != 0 {
		t.Fatalf("%d messages of refused requests are queued", waiting)
	}
	ids, err := l.SendMessages("alpha", all)
	if err != nil || len(ids) != len(all) {
		t.Fatalf("ids %v, %v", ids, err)
	}
	for i, id := range ids {
		message, waiting := l.Queue("alpha")
		if message == nil || message.ID != id || waiting != len(all)-i {
			t.Fatalf("message %d of %v is %+v, %d waiting", i, ids, message, waiting)
		}
		if err := l.Ack(Request{Account: "alpha"}, id); err != nil {
			t.Fatal(err)
		}
	}
}
