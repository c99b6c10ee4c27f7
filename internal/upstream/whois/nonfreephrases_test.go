package whois

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// almostFree are sentences that start like a free phrase and then report a failure,
// a refusal, the wrong server, or a registration.
var almostFree = map[string][]string{
	"an outage": {
		"No data available at this time.", "No data available right now", "No data available", "No information is available at the moment",
		"No information available for this query due to maintenance", "No information found, the registry is under maintenance", "No records available during scheduled maintenance",
		"No results returned within the time limit", "No results returned", "No results returned: timeout", "No match returned before the deadline",
		"No data from backend server", "No data received from backend", "No records from upstream", "No answer from the registry database", "No data from database",
		"Data not found, database error", "Data not found: internal error", "Domain not found (database error)", "Not found - lookup failed", "No entries found; the registry database is offline",
		"Object not found in local cache", "NAME not found in cache", "No match in the local database", "Domain not found on this mirror", "No entries found in the replica database", "Not found on this server",
		"Error 404: Not Found", "404: not found", "The requested page was not found", "No records found yet, please come back in a minute",
	},
	"a refusal": {
		"no information on NAME because you are not authorised", "no information on NAME for unauthorised clients", "No data for NAME without a contract", "No information about NAME is shown to anonymous users",
		"not registered user: access denied", "Not registered user", "Not registered IP address", "IP not registered", "Not registered for this service", "You are not registered with us", "User NAME not found", "No entries found for your user",
		"No entry on whitelist for your address", "No entry in the access list", "% No entries found for source address in access list", "No entries found for your IP", "No record of your address in the whitelist database",
		"no match within your quota", "No matches left in your quota", "no entries allowed", "No data: limit reached", "No results for clients without an account",
	},
	"a name in use": {
		"The domain is not delegated", "Domain NAME is not delegated", "Domain exists but is not delegated", "This domain is not in use", "NAME is currently not in use", "The domain is not active",
		"NAME is available for purchase from its owner at sedo", "NAME is available for purchase from its owner", "NAME is available for purchase on the aftermarket", "NAME is available at auction", "NAME is free from liens",
		"Status: available for auction", "Status: available for backorder", "Domain Status: available for transfer", "available for backorder", "available for auction", "available for transfer", "available from the owner", "free for the holder",
		"NAME is not available", "not available", "Status: not available", "NAME is no longer available", "The domain is not free", "NAME is not unregistered", "NAME is available soon", "Domain NAME will be available for registration in 30 days",
		"Domain not found in the DNS zone", "No records found in DNS", "No records found in the zone database", "not found in the list of expired domains", "Not registered by you", "NAME is not registered to this account",
	},
	"another registry": {
		"Domain is not known by this server", "Domain NAME not known to this server", "NAME is not registered with this registrar", "NAME is not registered through us", "NAME not found in our registrar database", "No match in this registrar's whois database",
		"Domain not found in reseller records", "The domain was not found, ask the registry instead", "No whois information is available for NAME at this server", "No entries found for this extension", "No match for this TLD", "Not allocated by APNIC", "Not found in the trademark database", "No entries found in the sunrise register", "Domain not found in our billing database", "Domain not found in the customer database",
	},
	"another thing": {
		"Information is available", "Data is available", "The record is available", "Names available", "No name given", "Not a registered company name", "No data for this request", "No information for your request", "Unallocated", "No domain", "No data", "No information", "No query", "No domain specified", "No object type specified",
		"用户不存在", "服务器不存在", "域名服务器未找到", "サーバが見つかりません", "Файл не найден", "Сервер не найден", "Servidor no encontrado", "No se encontró el servidor", "El dominio no está disponible", "Dominio no disponible", "Домен не свободен",
	},
}

func TestClassify_ContinuedSentenceIsNotFree(t *testing.T) {
	t.Parallel()
	const name = "kaffee.xx"
	for rule, sentences := range almostFree {
		for _, sentence := range sentences {
			sentence = strings.ReplaceAll(sentence, "NAME", name)
			bare := strings.TrimRight(sentence, ".")
			for _, answer := range []string{sentence, bare, bare + ".", "% " + bare, "# " + bare + ".", "; " + sentence, "%% " + strings.ToUpper(bare), "% Some registry\n\n" + sentence + "\n\n>>> Last update: today <<<"} {
				if got, code := classify([]byte(answer+"\r\n"), name); got.State == lookup.Free {
					t.Errorf("%s: %q is called free (%q)", rule, answer, code)
				}
			}
		}
	}
}

// A server can also report the failed query in a separate line.
func TestClassify_NotFoundDuringOutageIsNotFree(t *testing.T) {
	t.Parallel()
	for _, otherText := range []string{
		"Internal server error", "Error: database error", "The registry database is currently unavailable.", "Could not connect to database", "Lookup timed out", "Service is down for maintenance", "Scheduled maintenance in progress",
	} {
		for _, form := range []string{"No match for kaffee.xx\n%s\n", "%% %s\n%%\n%% No entries found\n", "%s\n\nNot found.\n", "Domain: kaffee.xx\nStatus: free\n\n%s\n"} {
			answer := fmt.Sprintf(form, otherText)
			if got, code := classify([]byte(answer), "kaffee.xx"); got.State == lookup.Free {
				t.Errorf("%q is called free (%q)", answer, code)
			}
		}
	}
	// A hypothetical outage does not count.
	answer := "No match for kaffee.xx\n\nIf you see an internal server error, write to us.\n"
	if got, _ := classify([]byte(answer), "kaffee.xx"); got.State != lookup.Free {
		t.Errorf("%q: state %d", answer, got.State)
	}
}

func TestClassify_SentenceFragmentIsNotFree(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		"% This service lets you find out whether a\n% domain is available\n% or is held by somebody.\n",
		"% The service is offered so that one can see whether\n% a domain is not registered\n",
		"This service is offered so that anybody can see that a\ndomain name is not registered\n",
		"Domain not found\nin the local cache\n",
		"kaffee.xx is available\nfor backorder at our partner\n",
		"No entries found\nbecause the question was refused\n",
		"% available\n",
		"% free\n",
	} {
		if got, code := classify([]byte(answer), "kaffee.xx"); got.State == lookup.Free {
			t.Errorf("%q is called free (%q)", answer, code)
		}
	}
	for _, answer := range []string{
		"% Some registry\n% No entries found\n% Have a nice day\n",
		"Domain not found\nin our database\n",
		"% No entries found\n% query: kaffee.xx\n",
		"This domain is available for registration, please visit\nhttps://www.example.net/\n",
	} {
		if got, code := classify([]byte(answer), "kaffee.xx"); got.State != lookup.Free {
			t.Errorf("%q: state %d, fault %q", answer, got.State, code)
		}
	}
}

// Names whose label is a word of the phrases are handled like any other.
func TestClassify_LabelEqualToPhraseWord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer string
		want         lookup.State
	}{
		{"server.xx", "Server not found\n", lookup.Undecided},
		{"contact.xx", "Contact not found\n", lookup.Undecided},
		{"user.xx", "No entries found for user\n", lookup.Undecided},
		{"server.xx", "No match for server.xx\n", lookup.Free},
		{"auction.xx", "auction.xx is free\n", lookup.Free},
		{"free.xx", "No match for free\n", lookup.Free},
		{"free.xx", "free.xx is not available\n", lookup.Undecided},
	} {
		if got, code := classify([]byte(c.answer), c.name); got.State != c.want || code != "" {
			t.Errorf("%q about %s: state %d, fault %q; want %d", c.answer, c.name, got.State, code, c.want)
		}
	}
}

// A free phrase with such a continuation no longer counts.
func TestClassify_QualifiedFreeSentenceIsNotFree(t *testing.T) {
	t.Parallel()
	const name = "kranich-47.xyz"
	for _, doubt := range []string{
		" in the local cache", " due to maintenance", ", database error", ": timeout", " - lookup failed", " at this time", " at the moment", " right now", " on this server", " by this server", " (cached)", " within the time limit",
		" because you are not authorised", " for your IP address", " for unregistered users", " in the access list", " within your quota", ", access denied",
		" with this registrar", " for backorder", " at auction", " from its owner", " by its owner", " in the zone", ", but reserved", " until tomorrow", ", ask again", " for 30 days", " according to our partner",
	} {
		for _, sentence := range freeSentences {
			if strings.HasPrefix(sentence, "Available: yes") {
				continue // a field, not a sentence
			}
			answer := strings.NewReplacer("NAME", name, "LABEL", "kranich-47").Replace(strings.TrimRight(sentence, ".!:\n")) + doubt + "\n"
			if got, code := classify([]byte(answer), name); got.State == lookup.Free {
				t.Errorf("%q is called free (%q)", answer, code)
			}
		}
	}
}
