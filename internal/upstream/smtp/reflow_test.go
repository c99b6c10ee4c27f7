package smtp

import (
	"regexp"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestReflow_WrapsProseAndKeepsOtherLines(t *testing.T) {
	t.Parallel()
	const text = `Hello,

On
1 December 2026 we charge 14.28 EUR
to your default payment method. Until then you can
turn this off here:

https://domains.example/portal
Name: Laptop
Valid until: 1 December 2027

Net                        12.00 EUR
Total                      14.28 EUR

  indented
- an item
> a quote

--
dotkontor
`
	const want = `Hello,

On 1 December 2026 we charge 14.28 EUR to your default payment method.
Until then you can turn this off here:

https://domains.example/portal
Name: Laptop
Valid until: 1 December 2027

Net                        12.00 EUR
Total                      14.28 EUR

  indented
- an item
> a quote

--
dotkontor
`
	if got := reflow(text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	filler := strings.Repeat("x", lineLength-len(" we pay 1")) + " we pay "
	if got := reflow(filler + "14.28 EUR on 1 December 2026"); got != strings.TrimSpace(filler)+"\n14.28 EUR on 1 December 2026" {
		t.Errorf("an amount was split:\n%s", got)
	}
	if got := reflow(filler + "19 % VAT"); got != strings.TrimSpace(filler)+"\n19 % VAT" {
		t.Errorf("a rate was split:\n%s", got)
	}
}

func TestMails_ListDomainsInOrderOfItems(t *testing.T) {
	t.Parallel()
	names := map[string]string{"items": "3", "item1_name": "zebra.de", "item2_name": "xn--bcher-kva.de", "item3_name": "ahorn.de"}
	body := renderMail(t, registrar.MailOrderPaid, "de", orderMailData(names))
	last := 0
	for _, name := range []string{"zebra.de", "bücher.de", "ahorn.de"} {
		at := strings.Index(body, "\n"+name)
		if at < last {
			t.Errorf("%s is in the wrong place:\n%s", name, body)
		}
		last = at
	}
}

// A mail does not know where it is read. Times in texts are formatted by moment.
func TestMailTexts_ClockTimesNameTheirZone(t *testing.T) {
	t.Parallel()
	clock := regexp.MustCompile(`\d\s+Uhr|\d:\d\d|[Mm]idnight|Mitternacht|[ap]\.m\.|o'clock`)
	for _, lang := range []language{german, english} {
		if !strings.HasSuffix(lang.timeLayout, " MST") {
			t.Errorf("%s formats times as %q", lang.code, lang.timeLayout)
		}
		for kind, mail := range lang.allMails() {
			if found := clock.FindString(mail.subject + mail.body + lang.help + lang.footer); found != "" {
				t.Errorf("%s in %s has %q without a zone", kind, lang.code, found)
			}
		}
	}
}
