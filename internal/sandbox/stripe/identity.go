package stripe

import "net/http"

func createVerification(c *call) (map[string]any, *refusal) {
	p := c.params
	v := &verification{
		ID: newID("vs_"), Created: c.at, Status: "requires_input", Secret: newID("test_"),
		Reference: p.text("client_reference_id"), Email: p.text("provided_details[email]"), ReturnURL: p.address("return_url"),
		Metadata: p.metadata("metadata"),
	}
	if kind := p.text("type"); kind != "document" {
		p.fail(invalid("", "type", "The sandbox knows the type document only."))
	}
	p.ignore("options[document][require_matching_selfie]", "options[document][require_live_capture]", "options[document][require_id_number]", "provided_details[phone]")
	for i := range 3 {
		p.oneOf("options[document][allowed_types]["+string(rune('0'+i))+"]", "driving_license", "id_card", "passport")
	}
	if wrong := p.finish(); wrong != nil {
		return nil, wrong
	}
	c.putVerification(v)
	return c.showVerification(v, c.expand)
}

func getVerification(c *call) (map[string]any, *refusal) {
	return getObject(c, &c.verifications, "identity.verification_session", c.showVerification)
}

func cancelVerification(c *call) (map[string]any, *refusal) {
	if wrong := c.params.finish(); wrong != nil {
		return nil, wrong
	}
	v := copyOf(c.verifications.get(c.id))
	if v == nil {
		return nil, missing("id", "identity.verification_session", c.id)
	}
	if v.Status != "requires_input" && v.Status != "processing" {
		return nil, &refusal{
			status: http.StatusBadRequest, Type: "invalid_request_error",
			Message: "You cannot cancel a VerificationSession that is " + v.Status + ".",
		}
	}
	v.Status = "canceled"
	c.putVerification(v)
	return c.showVerification(v, c.expand)
}

// Outcomes of an identity verification.
const (
	outcomeVerified   = "verified"
	outcomeUnverified = "unverified"
	outcomeProcessing = "processing"
)

// decide applies the customer's choice on the page.
func (t *tx) decide(v *verification, outcome, first, last string) *verification {
	v = copyOf(v)
	switch outcome {
	case outcomeVerified:
		v.Status, v.First, v.Last, v.Error, v.Report = "verified", first, last, nil, newID("vr_")
		t.emit("identity.verification_session.verified", t.viewVerification(v))
	case outcomeProcessing:
		v.Status, v.Error = "processing", nil
	default:
		v.Status, v.Report = "requires_input", newID("vr_")
		v.Error = &refusal{Code: "document_unverified_other", Reason: "The document could not be verified."}
		t.emit("identity.verification_session.requires_input", t.viewVerification(v))
	}
	t.putVerification(v)
	return v
}

func (t *tx) putVerification(v *verification) {
	t.change.Verifications = put(t.change.Verifications, v, func(v *verification) string { return v.ID })
}
