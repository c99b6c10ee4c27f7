package doctor

import (
	"encoding/json"
	"fmt"
	"net/http"
)

const (
	rdapPath        = "/rdap/"
	rdapMediaType   = "application/rdap+json"
	responseProfile = "icann_rdap_response_profile_1"
)

var rdapChecks = []check{
	{group: "rdap", name: "help", run: rdapHelp},
	{group: "rdap", name: "domain that can't exist is a 404", run: rdapNotFound},
}

// assertRDAP checks what all responses have in common.
func assertRDAP(j *assertions, a answer, status int) {
	j.must(a.err == nil && a.status == status, fmt.Sprint(status), a.String())
	if len(j.failures) > 0 {
		return
	}
	j.must(a.mediaType() == rdapMediaType && json.Valid(a.body), rdapMediaType, a.String())
	j.headerList(a, "Access-Control-Allow-Origin", "*", "Access-Control-Allow-Origin: *")
	j.must(containsAll(a.object()["rdapConformance"], "rdap_level_0"), "rdapConformance with rdap_level_0", toJSON(a.object()["rdapConformance"]))
}

// rdapHelp warns if the registrar is not described as ICANN requires: only then do responses
// claim conformance to its profile.
func rdapHelp(v *prober) result {
	var j assertions
	a := v.get(rdapPath + "help")
	assertRDAP(&j, a, http.StatusOK)
	j.must(len(j.failures) > 0 || len(objects(a.object()["notices"])) > 0, "notices", "none")
	j.should(containsAll(a.object()["rdapConformance"], responseProfile), responseProfile+", which an accredited registrar must conform to",
		"no claim of it: rdap.iana_id, company.name, rdap.abuse_email or rdap.abuse_phone is not set")
	return j.verdict("conforms to ICANN's profile")
}

func rdapNotFound(v *prober) result {
	var j assertions
	a := v.get(rdapPath + "domain/" + unlistedName)
	assertRDAP(&j, a, http.StatusNotFound)
	j.must(len(j.failures) > 0 || toJSON(a.object()["errorCode"]) == "404", "errorCode 404", a.String())
	return j.verdict("404")
}
