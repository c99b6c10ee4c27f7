package store

// ofCustomer finds the rows of an account.
const ofCustomer = "customer_id = $1"

// dossierParts are what a dossier has, in its order. Every column of every table is
// here, or is left out for a reason that the test of this list knows.
func dossierParts() []part {
	return append(accountParts(), businessParts()...)
}

// accountParts are about the account and the ways into it.
func accountParts() []part {
	return []part{
		{name: "account", table: "customers", where: "id = $1", columns: join(
			columns(asText, "id email language"), columns(asTime, "created_at confirmed_at disabled_at"), columns(asFlag, "operator"),
			said("hasPassword", "CASE WHEN password_hash = '' THEN 0 ELSE 1 END", asFlag),
			said("hasSecondFactor", "CASE WHEN totp_sealed = '' THEN 0 ELSE 1 END", asFlag),
		)},
		{name: "registrant", table: "registrants", where: ofCustomer, columns: join(
			columns(asText, "kind name organisation street postal_code city state country phone vat_id"), columns(asTime, "updated_at"),
		)},
		// What VIES said is kept by number; this is what it said of theirs.
		{name: "vatCheck", table: "vat_checks", where: "vat_id = (SELECT vat_id FROM registrants WHERE customer_id = $1)", columns: join(
			columns(asText, "vat_id"), columns(asFlag, "valid"), columns(asTime, "checked_at"),
		)},
		{name: "identity", table: "identities", where: ofCustomer, columns: join(
			columns(asText, "name failure"), columns(asTime, "verified_at updated_at"),
		)},
		{name: "paymentMethod", table: "payment_methods", where: ofCustomer, columns: join(
			columns(asText, "label"), columns(asTime, "updated_at"),
		)},
		{name: "passkeys", table: "passkeys", where: ofCustomer, key: "id", columns: join(
			columns(asText, "id name"), columns(asTime, "created_at last_used_at"),
		)},
		{name: "recoveryCodes", table: "recovery_codes", where: ofCustomer, key: "hash", columns: join(
			said("used", "CASE WHEN used_at = 0 THEN 0 ELSE 1 END", asFlag), columns(asTime, "used_at"),
		)},
		{name: "sessions", table: "sessions", where: ofCustomer, key: "id", columns: join(
			columns(asText, "id state proof address agent"), columns(asTime, "created_at authenticated_at seen_at expires_at"),
		)},
		{name: "devices", table: "devices", where: ofCustomer, key: "hash", columns: columns(asTime, "created_at expires_at")},
		{name: "mailedLinks", table: "links", where: ofCustomer, key: "hash", columns: join(
			columns(asText, "kind email"), columns(asTime, "expires_at used_at"),
		)},
		{name: "mailsToBeSent", table: "mails", where: ofCustomer, key: "id", columns: join(
			columns(asText, "kind recipient language"), columns(asTime, "created_at"), columns(asJSON, "data"),
		)},
		{name: "tokens", table: "tokens", where: ofCustomer, key: "id", columns: join(
			columns(asText, "id name"), columns(asTime, "created_at last_used_at revoked_at"),
		)},
		{name: "applications", table: "grants", where: ofCustomer, key: "id", columns: join(
			columns(asText, "id"), under("name", columns(asText, "client_name")), columns(asText, "client_id redirect_uri resource"),
			columns(asWords, "scope"), columns(asTime, "created_at last_used_at expires_at revoked_at"),
		)},
		{name: "agents", table: "agent_links", where: ofCustomer, key: "agent_id", columns: join(
			columns(asText, "agent_id"), said("name", "(SELECT agents.name FROM agents WHERE agents.id = agent_links.agent_id)", asText),
			columns(asText, "by_kind"), unlessOperators("by_kind", "by_id"), columns(asTime, "created_at"),
		)},
		{name: "activity", table: "deeds", where: ofCustomer, key: "id", columns: join(
			columns(asTime, "at"), columns(asText, "action object"), under("by", columns(asText, "actor_kind")),
			unlessOperators("actor_kind", "actor through address"),
		)},
	}
}

// businessParts are about domains, orders and what was declared about them.
func businessParts() []part {
	return []part{
		{name: "domains", table: "domains", where: ofCustomer, key: "id", columns: join(
			columns(asText, "id name status"), columns(asTime, "paid_until"), columns(asFlag, "auto_renew"),
			columns(asTime, "created_at updated_at"), under("contact", columns(asText, "handle")), columns(asWords, "registry_status"),
			columns(asTime, "registry_expires synced_at"),
		), within: []part{
			{name: "atTheRegistry", table: "registry_records", where: "domain_id = $1", columns: join(
				columns(asTime, "read_at"), columns(asJSON, "data"),
			)},
		}},
		{name: "changes", table: "changes", where: ofCustomer, key: "id", columns: join(
			columns(asText, "id"), under("domain", columns(asText, "name")), columns(asText, "domain_id kind"), columns(asJSON, "wanted"),
			under("contact", columns(asText, "handle")), under("oldContact", columns(asText, "old_handle")), columns(asText, "state failure by_kind"),
			unlessOperators("by_kind", "by_id by_address"), columns(asTime, "created_at updated_at"),
		)},
		{name: "locks", table: "domain_locks", where: ofCustomer, key: "id", columns: join(
			columns(asText, "id"), under("domain", columns(asText, "name")), columns(asText, "domain_id cause reason reference"),
			columns(asWords, "blocks"), columns(asTime, "set_at review_at lifted_at"),
		)},
		{name: "orders", table: "orders", where: ofCustomer, key: "id", columns: join(
			columns(asText, "id state channel"), under("email", columns(asText, "email_key")), columns(asText, "by_kind by_name"),
			unlessOperators("by_kind", "by_id by_address"), columns(asText, "agent_id completer_id"), columns(asJSON, "contact"),
			columns(asFlag, "claimed"), columns(asTime, "claim_asked_at"), columns(asMoney, "net vat gross"),
			under("vatRateBasisPoints", columns(asNumber, "vat_rate")), columns(asText, "vat_rule vat_country vat_id"),
			columns(asFlag, "vat_unchecked auto_renew"), columns(asTime, "created_at updated_at expires_at paid_at consent_at"),
			columns(asText, "consent_wording"), columns(asJSON, "registrant"),
		), within: []part{
			{name: "items", table: "order_items", where: "order_id = $1", key: "id", columns: join(
				columns(asText, "id"), under("domain", columns(asText, "name")), columns(asText, "domain_id kind"), columns(asNumber, "years"),
				columns(asMoney, "net vat gross"), columns(asText, "state failure"),
			)},
			{name: "payments", table: "payments", where: "order_id = $1", key: "id", columns: join(
				columns(asText, "id kind state failure"), columns(asMoney, "amount"),
				under("providersPayment", columns(asText, "intent")), columns(asTime, "created_at ends_at updated_at"),
			)},
			{name: "refunds", table: "refunds", where: "order_id = $1", key: "id", columns: join(
				columns(asText, "id payment_id item_id"), columns(asMoney, "amount"), under("providersRefund", columns(asText, "provider")),
				columns(asTime, "created_at made_at"),
			)},
			{name: "invoices", table: "invoices", where: "order_id = $1", key: "id", columns: join(
				columns(asText, "id kind"), under("number", columns(asText, "label")), columns(asText, "refund_id"),
				columns(asTime, "issued_at"), columns(asMoney, "net vat gross"), said("", "id", asFiles), columns(asJSON, "content"),
			)},
			{name: "invoicesToBeIssued", table: "invoices_due", where: "order_id = $1", key: "id", columns: join(
				columns(asText, "refund_id"), columns(asTime, "created_at"), columns(asJSON, "buyer"),
			)},
		}},
		// What became of each paid item at its registry.
		{name: "registrations", table: "lines", where: ofCustomer, key: "id", columns: join(
			columns(asText, "id"), under("domain", columns(asText, "name")), columns(asText, "domain_id kind"), columns(asNumber, "years"),
			columns(asText, "payment state failure"), columns(asFlag, "refund_due"), under("contact", columns(asText, "handle")),
			columns(asTime, "renew_from asked_at created_at updated_at"), columns(asJSON, "registrant"),
		)},
		// Declared without signing in: whose they are is whose address was given, to
		// which each was confirmed.
		{
			name: "declarations", table: "declarations", where: "lower(email) = (SELECT email_key FROM customers WHERE id = $1)", key: "id",
			columns: join(
				columns(asText, "id kind name email contract ground reason end_day language"), columns(asTime, "created_at done_at"),
			),
		},
	}
}
