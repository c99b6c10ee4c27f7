package sandbox

import (
	"bytes"
	"net/smtp"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
)

func TestSandboxClock_AdvancesFromAnotherProcess(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	noon := time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)
	clock := func(args ...string) (int, string, string) {
		var out, errOut bytes.Buffer
		code := cli.Run(t.Context(), &grammar{}, append([]string{"sandbox", "--data", folder, "clock"}, args...), nil, strings.NewReader(""), &out, &errOut)
		return code, out.String(), errOut.String()
	}
	if code, _, errOut := clock(); code != cli.ExitError || !strings.Contains(errOut, "dotkontor sandbox --data") {
		t.Errorf("without a sandbox: %d %s", code, errOut)
	}
	if code, _, errOut := clock("advance", "1d", "--info", "info.json"); code != cli.ExitError || !strings.Contains(errOut, "--info only applies") {
		t.Errorf("with --info: %d %s", code, errOut)
	}
	world, err := registry.Start(registry.Options{
		Zones: []registry.Zone{{TLD: ".de"}}, Data: folder, Now: func() time.Time { return noon },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer world.Close()
	for _, test := range []struct {
		args []string
		code int
		out  string
	}{
		{nil, cli.ExitOK, "2027-01-31T12:00:00Z\n"},
		{[]string{"advance", "30d"}, cli.ExitOK, "2027-03-02T12:00:00Z\n"},
		{[]string{"show"}, cli.ExitOK, "2027-03-02T12:00:00Z\n"},
		{[]string{"advance", "soon"}, cli.ExitUsage, ""},
		{[]string{"advance", "--", "-1h"}, cli.ExitUsage, ""},
		{[]string{"advance"}, cli.ExitUsage, ""},
		{[]string{"advance", "99999h"}, cli.ExitOK, "2038-07-29T03:00:00Z\n"},
	} {
		if code, out, errOut := clock(test.args...); code != test.code || out != test.out {
			t.Errorf("clock %v: %d %q %s, want %d %q", test.args, code, out, errOut, test.code, test.out)
		}
	}
	if got := world.Now(); got.Year() != 2038 {
		t.Errorf("the world's clock shows %v", got)
	}
}

// The mailbox lists mails with the times that are in them.
func TestSandboxClock_MailArrivesByTheMovedClock(t *testing.T) {
	t.Parallel()
	sim := simulation{demo: demo{Since: time.Now()}}
	if err := sim.start(Command{Data: t.TempDir()}, []registry.Zone{{TLD: ".de"}, {TLD: ".com"}, {TLD: ".io"}}, time.Now); err != nil {
		t.Fatal(err)
	}
	defer sim.close()
	if err := sim.registry.Advance(30 * 24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	err := smtp.SendMail(sim.mailbox.Address(), nil, "post@domains.example", []string{"erika@kundin.example"}, []byte("Subject: x\r\n\r\nx\r\n"))
	mails := sim.mailbox.Mails("erika@kundin.example")
	if err != nil || len(mails) != 1 || time.Until(mails[0].ReceivedAt) < 29*24*time.Hour {
		t.Errorf("%v, %+v", err, mails)
	}
}

type grammar struct {
	Sandbox Command `cmd:""`
}
