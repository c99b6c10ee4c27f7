package admin

import (
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestUpstreamAdvice_NamesSettingsOfFailedPart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		settings upstreamSettings
		cause    registrar.Cause
		want     string
	}{
		{databaseSettings, registrar.Cause{Part: "database", Operation: "connect", Class: "login_refused", Code: "SQLSTATE 28P01"}, "check user and password in database.url"},
		{databaseSettings, registrar.Cause{Part: "database", Operation: "connect", Class: "connection_refused"}, "check database.url"},
		{stripeSettings, registrar.Cause{Part: "stripe", Operation: "charges", Class: "login_refused", Code: "HTTP 401"}, "check stripe.secret_key"},
		{mailSettings, registrar.Cause{Part: "smtp", Operation: "send", Class: "tls_not_offered"}, "mail.tls"},
		{viesSettings, registrar.Cause{Part: "vies", Operation: "check", Class: "timeout"}, "check vat.vies_url"},
	} {
		got := c.settings.explain(&c.cause).Error()
		if !strings.Contains(got, c.want) || !strings.Contains(got, c.cause.Class) || strings.Contains(got, "registr") {
			t.Errorf("%s %s: got %q, want %q in it", c.cause.Part, c.cause.Class, got, c.want)
		}
	}
	// Registry commands also read the database: its failures get no advice about EPP.
	if got := explainEPPError(&registrar.Cause{Part: "database", Operation: "connect", Class: "login_refused"}).Error(); strings.Contains(got, "lock accounts") {
		t.Errorf("a database failure has advice about registries: %q", got)
	}
}
