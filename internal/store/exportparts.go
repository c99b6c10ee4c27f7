package store

import "slices"

// whereCustomer selects the rows of an account.
const whereCustomer = "customer_id = $1"

// whereNoticeOf selects the withdrawal notices of an account, like the query ListNoticesOfCustomer.
const whereNoticeOf = `id IN (
	SELECT named.id FROM customers JOIN withdrawal_notices AS named ON lower(named.email) = customers.email_key || '' WHERE customers.id = $1
	UNION SELECT sent.id FROM withdrawal_notices AS sent WHERE sent.customer_id = $1 AND sent.customer_id <> '')`

// exportParts lists the sections of a customer export in order. Every column of every
// table is here, or is omitted for a reason that the test of this list states.
func exportParts() []part {
	return []part{
		// The account and its credentials.
		{name: "account", table: "customers", where: "id = $1", columns: slices.Concat(
			columns(asText, "id email language basket"), columns(asTime, "created_at confirmed_at disabled_at data_reminder_at"), columns(asFlag, "operator"),
			derived("hasPassword", "CASE WHEN password_hash = '' THEN 0 ELSE 1 END", asFlag),
			derived("hasSecondFactor", "CASE WHEN totp_sealed = '' THEN 0 ELSE 1 END", asFlag),
		)},
		{name: "registrant", table: "registrants", where: whereCustomer, columns: slices.Concat(
			columns(asText, "kind name organisation street postal_code city state country phone vat_id"), columns(asTime, "updated_at"),
		)},
		{name: "holders", table: "holders", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asText, "id kind name organisation street postal_code city state country phone email tech_id billing_id"), columns(asTime, "created_at updated_at"),
		)},
		// VIES results are stored by VAT ID.
		{name: "vatCheck", table: "vat_checks", where: "vat_id = (SELECT vat_id FROM registrants WHERE customer_id = $1)", columns: slices.Concat(
			columns(asText, "vat_id"), columns(asFlag, "valid"), columns(asTime, "checked_at"),
		)},
		{name: "identity", table: "identities", where: whereCustomer, columns: slices.Concat(
			columns(asText, "name failure"), columns(asTime, "verified_at updated_at"),
		)},
		{name: "paymentMethod", table: "payment_methods", where: whereCustomer, columns: slices.Concat(
			columns(asText, "label"), columns(asTime, "updated_at"),
		)},
		{name: "savedPaymentMethods", table: "saved_methods", where: whereCustomer, key: "method", columns: slices.Concat(
			columns(asText, "label expires"), columns(asTime, "added_at"),
			derived("default", "CASE WHEN method = (SELECT payment_methods.method FROM payment_methods WHERE payment_methods.customer_id = saved_methods.customer_id) THEN 1 ELSE 0 END", asFlag),
		)},
		{name: "transferList", table: "transfer_lists", where: whereCustomer, columns: slices.Concat(
			columns(asList, "names"), columns(asTime, "expires_at"),
		)},
		{name: "passkeys", table: "passkeys", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asText, "id name"), columns(asTime, "created_at last_used_at"),
		)},
		{name: "recoveryCodes", table: "recovery_codes", where: whereCustomer, key: "hash", columns: slices.Concat(
			derived("used", "CASE WHEN used_at = 0 THEN 0 ELSE 1 END", asFlag), columns(asTime, "used_at"),
		)},
		{name: "sessions", table: "sessions", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asText, "id state auth_method address country user_agent"), columns(asTime, "created_at authenticated_at seen_at expires_at"),
		)},
		{name: "devices", table: "devices", where: whereCustomer, key: "hash", columns: columns(asTime, "created_at expires_at")},
		{name: "mailedLinks", table: "links", where: whereCustomer, key: "hash", columns: slices.Concat(
			columns(asText, "kind email"), columns(asTime, "expires_at used_at"),
		)},
		{name: "mailsToBeSent", table: "mails", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asText, "kind recipient language"), columns(asTime, "created_at"), columns(asJSON, "data"),
		)},
		{name: "tokens", table: "personal_access_tokens", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asText, "id name purpose"), columns(asTime, "created_at last_used_at expires_at revoked_at"),
		)},
		{name: "applications", table: "grants", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asText, "id"), renamed("name", columns(asText, "client_name")), columns(asText, "client_id redirect_uri resource"),
			columns(asList, "scope"), columns(asTime, "created_at last_used_at expires_at revoked_at"),
		)},
		{name: "agents", table: "agent_links", where: whereCustomer, key: "agent_id", columns: slices.Concat(
			columns(asText, "agent_id"), derived("name", "(SELECT agents.name FROM agents WHERE agents.id = agent_links.agent_id)", asText),
			columns(asText, "by_kind"), redactOperators("by_kind", "by_id"), columns(asTime, "created_at"),
		)},
		{name: "activity", table: "audit_events", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asTime, "at"), columns(asText, "action object refund_id"), renamed("by", columns(asText, "actor_kind")),
			redactOperators("actor_kind", "actor through address"),
		)},

		// Domains, orders and withdrawal notices.
		{name: "domains", table: "domains", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asText, "id name status"), columns(asTime, "paid_until"), columns(asFlag, "auto_renew premium"), columns(asText, "at_term_end"),
			columns(asText, "folder note"), columns(asTime, "created_at updated_at"), renamed("contact", columns(asText, "handle")), columns(asList, "registry_status"),
			columns(asTime, "registry_expires synced_at"), columns(asText, "holder_id"), columns(asJSON, "registrant"), columns(asTime, "registrant_since"),
			columns(asText, "contact_check contact_hold"),
		), nested: []part{
			{name: "formerRegistrants", table: "past_registrants", where: "domain_id = $1", key: "id", columns: slices.Concat(
				columns(asText, "id holder_id"), columns(asJSON, "registrant"), columns(asText, "reason"), columns(asTime, "since until"),
			)},
			{name: "atTheRegistry", table: "registry_records", where: "domain_id = $1", columns: slices.Concat(
				columns(asTime, "read_at"), columns(asJSON, "data"),
			)},
		}},
		{name: "contactChecks", table: "contact_checks", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asText, "id email language state"), columns(asNumber, "notices"), columns(asTime, "opened_at due_at resent_at suspended_at ended_at"),
			columns(asText, "waits_for confirmed_by note"),
		)},
		{name: "renewalConsents", table: "renewal_consents", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asText, "id"), renamed("domain", columns(asText, "name")), columns(asText, "domain_id wording"), columns(asNumber, "years"),
			columns(asMoney, "gross"), columns(asTime, "charge_at"), columns(asText, "method through address"), columns(asTime, "given_at ended_at"),
			columns(asText, "end_reason"),
		)},
		{name: "changes", table: "domain_changes", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asText, "id"), renamed("domain", columns(asText, "name")), columns(asText, "domain_id kind"), columns(asJSON, "desired"),
			renamed("contact", columns(asText, "handle")), renamed("oldContact", columns(asText, "old_handle")), columns(asText, "state failure by_kind"),
			redactOperators("by_kind", "by_id by_address"), columns(asText, "bulk_id"), columns(asTime, "wait_until created_at updated_at"),
		)},
		{name: "outgoingTransfers", table: "outgoing_transfers", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asText, "id"), renamed("domain", columns(asText, "name")), columns(asText, "domain_id gaining"), columns(asTime, "requested_at acts_at"),
			columns(asText, "state registry_status failure reason statement by_kind"), redactOperators("by_kind", "by_id by_address"),
			columns(asTime, "decided_at created_at updated_at ended_at"),
		)},
		{name: "bulkActions", table: "bulk_actions", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asText, "id action order_id"), columns(asJSON, "results"), columns(asTime, "created_at"),
		)},
		{name: "locks", table: "domain_locks", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asText, "id"), renamed("domain", columns(asText, "name")), columns(asText, "domain_id cause reason reference"),
			columns(asList, "restrictions"), columns(asTime, "set_at review_at lifted_at"),
		)},
		{name: "unpaidTerms", table: "term_ends", where: whereCustomer, key: "domain_id", columns: slices.Concat(
			renamed("domain", columns(asText, "name")), columns(asText, "domain_id state cause"), columns(asTime, "term_end step_at held_at deleted_at ended_at updated_at"),
		)},
		{name: "sentNotices", table: "sent_notices", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asText, "id kind"), renamed("domain", columns(asText, "name")), columns(asText, "domain_id"), columns(asTime, "term_end"),
			columns(asText, "recipient subject"), renamed("text", columns(asText, "body")), columns(asTime, "queued_at sent_at"),
			columns(asFlag, "accepted"), columns(asText, "response"),
		)},
		{name: "automaticRenewals", table: "renewals", where: whereCustomer, key: "domain_id || ':' || term_end", columns: slices.Concat(
			renamed("domain", columns(asText, "name")), columns(asText, "domain_id state"), columns(asTime, "term_end"), columns(asNumber, "years"),
			columns(asMoney, "gross"), columns(asTime, "announced_at charge_at"), columns(asNumber, "attempts"), columns(asText, "order_id failure"),
			columns(asTime, "updated_at"),
		)},
		{name: "orders", table: "orders", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asText, "id state channel"), renamed("email", columns(asText, "email_key")), columns(asText, "by_kind by_name"),
			redactOperators("by_kind", "by_id by_address"), columns(asText, "agent_id completer_id"), columns(asJSON, "contact"),
			columns(asFlag, "claimed"), columns(asTime, "claim_mailed_at"), columns(asMoney, "net vat gross"),
			renamed("vatRateBasisPoints", columns(asNumber, "vat_rate")), columns(asText, "vat_rule vat_country vat_id"),
			columns(asFlag, "vat_unchecked auto_renew"), columns(asTime, "created_at updated_at expires_at paid_at consent_at"),
			columns(asText, "consent_wording renewal_wording"), columns(asTime, "renewal_at"), columns(asText, "renewal_session renewal_address"), columns(asJSON, "registrant"),
		), nested: []part{
			{name: "items", table: "order_items", where: "order_id = $1", key: "id", columns: slices.Concat(
				columns(asText, "id"), renamed("domain", columns(asText, "name")), columns(asText, "domain_id kind"), columns(asNumber, "years"),
				columns(asMoney, "net vat gross"), columns(asText, "state failure"), columns(asNumber, "renewal_years"), columns(asMoney, "renewal_gross premium_renewal"), columns(asTime, "term_end paid_until failure_mailed_at"),
				columns(asText, "holder_id"), columns(asJSON, "registrant"),
			)},
			{name: "payments", table: "payments", where: "order_id = $1", key: "id", columns: slices.Concat(
				columns(asText, "id kind state failure"), columns(asMoney, "amount"),
				renamed("providersPayment", columns(asText, "intent")), columns(asTime, "created_at ends_at updated_at"),
			)},
			{name: "refunds", table: "refunds", where: "order_id = $1", key: "id", columns: slices.Concat(
				columns(asText, "id payment_id item_id"), columns(asMoney, "amount"), renamed("providersRefund", columns(asText, "provider")),
				columns(asText, "source reason note notice_id"), columns(asJSON, "parts"), columns(asText, "replaces failure settlement"), columns(asTime, "created_at made_at failed_at settled_at"),
			)},
			{name: "disputes", table: "disputes", where: "order_id = $1", key: "id", columns: slices.Concat(
				columns(asText, "id payment_id status reason currency"), columns(asMoney, "amount withdrawn refunded"), columns(asFlag, "bank_return"),
				columns(asTime, "evidence_due opened_at"), renamed("lock", columns(asText, "lock_state")), columns(asText, "decision note"), columns(asTime, "decided_at locked_at lifted_at stored_at updated_at"),
			)},
			{name: "invoices", table: "invoices", where: "order_id = $1", key: "id", columns: slices.Concat(
				columns(asText, "id kind"), renamed("number", columns(asText, "label")), columns(asText, "refund_id"),
				columns(asTime, "issued_at"), columns(asMoney, "net vat gross"), derived("", "id", asInvoiceFiles), columns(asJSON, "content"),
			)},
			{name: "invoicesToBeIssued", table: "pending_invoices", where: "order_id = $1", key: "id", columns: slices.Concat(
				columns(asText, "refund_id"), columns(asTime, "created_at"), columns(asJSON, "buyer"),
			)},
		}},
		// Provisioning of each paid item.
		{name: "registrations", table: "provision_items", where: whereCustomer, key: "id", columns: slices.Concat(
			columns(asText, "id"), renamed("domain", columns(asText, "name")), columns(asText, "domain_id kind"), columns(asNumber, "years"),
			columns(asText, "payment state failure"), columns(asFlag, "refund_due automatic"), renamed("contact", columns(asText, "handle")),
			columns(asTime, "renew_from requested_at created_at updated_at"), columns(asText, "holder_id"), columns(asJSON, "registrant"),
		)},
		// Notices are sent without signing in; they belong to the address that was given, to
		// which each was confirmed, and to the account that is known to have sent them.
		{
			name: "declarations", table: "withdrawal_notices", where: whereNoticeOf, key: "id",
			columns: slices.Concat(
				columns(asText, "id kind name email contract ground reason end_day language done_note done_reply done_ends"), columns(asTime, "created_at done_at"),
			),
		},
		{
			name: "declarationReceipts", table: "sent_notices", key: "id",
			where: "customer_id = '' AND domain_id IN (SELECT id FROM withdrawal_notices WHERE " + whereNoticeOf + ")",
			columns: slices.Concat(
				columns(asText, "id kind domain_id recipient subject"), renamed("text", columns(asText, "body")), columns(asTime, "queued_at sent_at"),
				columns(asFlag, "accepted"), columns(asText, "response"),
			),
		},
		// What was sent without signing in belongs to the address that was given.
		{
			name: "inquiries", table: "inquiries", key: "id",
			where: "(customer_id = $1 OR customer_id = '' AND lower(email) = (SELECT email_key FROM customers WHERE id = $1))",
			columns: slices.Concat(
				columns(asText, "id name email topic about message language done_note"), columns(asTime, "created_at done_at"),
			),
		},
	}
}
