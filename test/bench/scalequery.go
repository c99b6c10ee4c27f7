package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const queryPackage = "github.com/dotkontor/dotkontor/internal/store/query"

// statement is one query of the product with the source of its parameters.
type statement struct {
	name, text string
	// table is the statement's main table.
	table string
	// writes is true for statements that can't run on a reading connection, and answers
	// for those that return rows.
	writes, answers bool
	inserts         bool
	parameters      []parameter
}

// parameter is the value for $1 and so on.
type parameter struct {
	table, column string
	operator      string // how the column is compared; = if it is set
	// fixed is used if no column determines the value.
	fixed any
	// ofReferencedRow means the row that the other parameters' row refers to.
	ofReferencedRow bool
}

// referencedRowParameters name a column of the row that the other parameters' row
// refers to, such as the customer of an invoice's order. Every row refers to the one at
// its own place of the shuffled order.
var referencedRowParameters = []string{"GetCustomerInvoice.$1", "ListCustomerInvoices.$1", "ListOrderInvoices.$2", "GetLinkedCustomerID.$1"}

// fixedParameters are those without a column, and those whose value differs from the
// column's, such as a payment's first state.
var fixedParameters = map[string]any{
	"limit":                      int32(10),      // like the limits in the generated code
	"InsertOrder.$39":            int64(million), // below the limit
	"InsertHolder.$16":           int64(million), // below the limit
	"InsertPastRegistrant.$2":    `{}`,
	"InsertPastRegistrant.$3":    "correction",
	"ConfirmBrake.$4":            int64(1),
	"CountBrakeActions.$2":       int64(1),
	"CountBrakeActions.$3":       int64(20),
	"GetLastChangeFor.$4":        "%",
	"ListOpenContactChecks.$1":   int64(0),
	"ReleaseRegistryStatus.$1":   " clientHold ",
	"ListAllOrdersOfAddress.$2":  "ord_zzz", // the first page: the row of the address has another order's id
	"ListSentNoticesOfOrder.$2":  "ord_x",   // receipts are not generated
	"DeletePendingInvoices.$3":   `["due_x"]`,
	"ListNoticesOfCustomer.$2":   "~", // the first page
	"InsertWithdrawalNotice.$11": "",
	"ListRenewalsMentioned.$3":   "", // the first page
	"ListRenewalsMentioned.$4":   "",
	"ListRenewalsMentioned.$5":   `["x.org"]`,
	"ListContractMentions.$2":    `["dom_x"]`,
	"ListDisputesOfOrders.$1":    `["ord_x"]`,
	"ListRefundedOrders.$1":      `["ord_x"]`,
	"CountDomainFilters.$2":      "%clientTransferProhibited%",
	"ListDomainsUnderWay.$2":     `["dom_x"]`,
	"ListAcquiredNames.$2":       `["x.org"]`,
	"ListReceipts.$2":            `["dcl_x"]`,
	"InsertInvoices.$1":          `[]`,
	"ReportOutgoingTransfer.$2":  "Rival",
	"ReportOutgoingTransfer.$3":  int64(firstDay),
	"ReportOutgoingTransfer.$4":  int64(firstDay),
	"ReportOutgoingTransfer.$5":  int64(firstDay),
	"UpdateOutgoingTransfer.$2":  int64(0),
	"UpdateOutgoingTransfer.$4":  "x",
	"UpdateOutgoingTransfer.$5":  int64(firstDay),
	"InsertRegistryCharge.$13":   int64(firstDay),
	"EndTermPaid.$1":             int64(firstDay),
	"EndTermPaid.$2":             int64(firstDay),
	"ListDueContactChecks.$2":    int64(0),
	"SetDomainRegistrant.$5":     int64(1),
	"ListDueTermEnds.$3":         int64(0),
	"ListDomainsEndingSoon.$4":   int64(0), // those that need no decision
	"SetDomainStatus.$3":         int64(firstDay),
	"InsertPayment.$4":           "opening",
	"CompleteWebhookDelivery.$3": int64(firstDay),
	"CountDueOrders.$1":          int64(farFuture), // all are due: it counts to a thousand at either size
	"SumInvoices.$1":             int64(farFuture), // a day of a shop, not all its years
	"SumInvoices.$2":             int64(farFuture),
	"ListHeldDomains.$2":         "",
	"ListHeldDomains.$3":         "",
	"ListHeldDomains.$4":         "",
	"ListHeldDomains.$5":         "",
	"ListHeldDomains.$6":         "",
	"ListHeldDomains.$7":         "",
	"ListHeldDomains.$8":         "",
	"ListHeldDomains.$9":         "",
	"SearchDomains.$2":           "", // from the beginning: every customer has one
	"SearchDomains.$3":           "",
	"SearchDomains.$4":           "%",

	"SearchDomains.$10":       "-",
	"SearchDomains.$11":       "-",
	"SearchDomains.$12":       "%",
	"SearchDomains.$13":       int64(0),
	"SearchDomains.$14":       int32(0),
	"SearchDomainsByTerm.$2":  int64(0),
	"SearchDomainsByTerm.$3":  "",
	"SearchDomainsByTerm.$4":  "%",
	"SearchDomainsByTerm.$6":  int64(0),
	"SearchDomainsByTerm.$10": "-",
	"SearchDomainsByTerm.$11": "-",
	"SearchDomainsByTerm.$12": "%",
	"SearchDomainsByTerm.$13": int64(0),
	"SearchNewestDomains.$2":  "~",
	"SearchNewestDomains.$3":  "%",
	"SearchNewestDomains.$5":  int64(0),
	"SearchNewestDomains.$9":  "-",
	"SearchNewestDomains.$10": "-",
	"SearchNewestDomains.$11": "%",
	"SearchNewestDomains.$12": int64(0),
	"SearchOrderIDs.$3":       int32(0),
	"ListRunningTransfers.$2": int32(0), // the first page
	"InsertCustomerMail.$3":   "",
	"InsertCustomerMail.$4":   "",
	"CountSearchedDomains.$2": "%",
	"ForkGrant.$1":            int64(firstDay),
}

// emptyResultQueries are the queries that match no generated row, because all generated
// rows are in one state: every account is confirmed and enabled, no sign-in or payment
// is in progress, every domain renews automatically, every application is connected, no token was used, every audit event
// has an account, no domain is pending, every domain has an open change, every lock is
// active, every job is leased, every notice is done, every inquiry is open, every term has a renewal and none is
// due, every unpaid term waits, the brake has other names, there are no operators, guests or renewal baskets, a customer has few bulk actions, every refund was made,
// every outgoing transfer is open and leased, no dispute is about a domain's order,
// and no key rotation is running. Their time is that of the search.
var emptyResultQueries = []string{
	"SumInvoices",                          // of a day without invoices
	"ListHeldDomains", "ListAcquiredNames", // of names that are not there
	"FreezeRegistrants",                       // every domain has a registrant
	"DeletePendingInvoices", "InsertInvoices", // of lists without a row
	"KeepNoticesOfAddress", // every notice has its account
	"ListOrderIDsOfNotice", // few refunds complete a notice
	"ConfirmCustomer", "DeleteLinksOfUnconfirmed", "DeleteUnconfirmedCustomer", "EnableCustomer", "ListStaleUnconfirmedCustomers",
	"DeleteOldestDevices", "DeleteOldestSessions", "CountSecondFactorAttempt",
	"DeleteUnusedClients", "DeleteOldConsentsOfSession", "ReuseRefreshToken", "DeleteAccountlessAuditEvents",
	"ActivateDomain", "DeletePendingDomain", "MakePendingProvisionItemsDue", "ListFailedItems",
	"InsertDomainChange", "ListSecureChanges", "InsertIdentity", "InsertCustomerMail", "InsertMailedLink", "ReplaceQueuedMail", "LockQueuedMail", "InsertRenewalProvisionItem", "GetOrderInPayment", "PutProviderCustomer", "AnnounceConsentedRenewal", "ChooseRenewal", "GetOrderedConsent", "InsertRenewalConsent", "StopAnnouncedRenewalsOfCustomer", "ListOrderIDsAwaitingIdentity",
	"UpdateGuest", "DeleteOrdersOfGuest", "DeleteGuest", "DeleteWebhookDeliveriesOfUnlinkedAgent", "ReassignDomainChanges", "ReassignDomainLocks", "ReassignRegistrant", "SetPendingInvoiceBuyer", "InsertAgentLink", "GetGuestID", "ListStaleGuestIDs", "EnqueueWebhookDelivery",
	"ListLiftedDomainLocks", "ListDueLockHolds", "SetLockHoldStep", "IsHeldByLock", "ListOperators", "SetOperator", "RetryDomainChange", "RetryProvisionItem", "RetryOrder",
	"GetInvoiceByOrder", "MarkWithdrawalNoticeDone", "ReopenWithdrawalNotice", "ListHandledWithdrawalNotices", "DeleteNextSealKey",
	"ListEndedTransfers", "ListAllRefundedPayments", "ListEndedDomainsOfOrder", // transfers are in progress, no refund is made, no domain deleted
	"ListHandledInquiries", "DeleteHandledInquiries", "DeleteHandledInquiriesOfCustomer",
	"InsertRenewal", "FailPaidRenewal", "ExpireOrdersOfPaidTerms", "ListCustomersToAnnounce", "ListDomainsToAnnounce", "ListCustomersOfDueRenewals", "ListDueRenewals",
	"LockDueRenewalDomains", "StartRenewals",
	"ConfirmBrake", "CountBrakeActions", "GetBrake", "SetBrakeRun", "StopBrakeByClock", "StopBrakeByVolume", "ListUndatedReminders", "GetRenewalOfTerm",
	"DeleteOldBulkActions", "ListOpenRenewalOrderIDs", "DetachMethodsOfCustomer", "KeepDefaultMethod",
	"ListUncheckedDomains", "SetContactCheck", "ListDomainsToRelease", "ClearContactHold", // every domain waits for its check
	"InsertOverdueTermEnd", "InsertTermEnd", "InsertDeletedTermEnd", "ListClosedDomainIDs", "ListOverdueDomains", "ListPlannedTermEnds",
	"ListTransferMessages", // every message is about a balance
	"ListPendingRefunds", "ListAllPendingRefunds", "InsertRefundedTermEnd", "ListRegisteredDomains",
	"InsertOutgoingTransfer", "ListEndedOutgoingTransfers", "MakeOutgoingTransfersDue",
	"ListDomainDisputes", "ListDisputesOfOrders", "ListRefundedOrders", "ListLockingDisputes", "ListRestrictedDomains", "ListContractMentions", "ListRenewalsMentioned", "ListReceipts", "ListDomainsUnderWay",
	"ListDomainNotices",                                                    // domains and notices have different customers
	"GetRegistrationCharge", "InsertMarginCredit", "ListCreditNotesOfItem", // no item or refund has the id of a charge or document
}

// sandboxQueries are not timed: a service with a million domains does not send them.
var sandboxQueries = []string{"CountDueWork", "MakeOverdueOrdersDue"}

// readStatements reads the source of the generated package: its texts are what the
// product runs, and a new query is found without an entry here.
func readStatements(ctx context.Context) ([]statement, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", queryPackage).Output()
	if err != nil {
		return nil, fmt.Errorf("the generated queries are not found (run this inside the repository): %w", err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "*.sql.go"))
	if err != nil {
		return nil, err
	}
	var all []statement
	for _, file := range files {
		texts, err := queryTexts(file)
		if err != nil {
			return nil, err
		}
		for _, text := range texts {
			s, err := readStatement(text)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(sandboxQueries, s.name) {
				all = append(all, s)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no query in %s", strings.TrimSpace(string(out)))
	}
	return all, nil
}

// queryTexts returns the constants that sqlc generates.
func queryTexts(file string) ([]string, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var texts []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(literal.Value)
		if err == nil && strings.HasPrefix(text, "-- name: ") {
			texts = append(texts, text)
		}
		return true
	})
	return texts, nil
}

var (
	headLine    = regexp.MustCompile(`^-- name: (\w+) :(\w+)\s`)
	mainTable   = regexp.MustCompile(`(?i)\b(?:FROM|UPDATE|INTO)\s+(\w+)`)
	aliases     = regexp.MustCompile(`(?i)\b(?:FROM|JOIN|UPDATE)\s+(\w+)\s+(?:AS\s+)?(\w+)`)
	insertion   = regexp.MustCompile(`(?is)INSERT INTO \w+ \(([^)]*)\)\s*(?:VALUES\s*\(|SELECT\s)(.*)`)
	compared    = regexp.MustCompile(`(?:(\w+)\.)?(\w+)\s*(<=|>=|<>|=|<|>)\s*\$(\d+)\b`)
	comparedTo  = regexp.MustCompile(`\$(\d+)\s*(<=|>=|<>|=|<|>)\s*(?:(\w+)\.)?(\w+)\b`)
	added       = regexp.MustCompile(`(\w+)\s*=\s*\w+\s*[+-]\s*\$(\d+)\b`)
	limited     = regexp.MustCompile(`(?i)(LIMIT|OFFSET)\s+\$(\d+)\b`)
	placeholder = regexp.MustCompile(`\$(\d+)\b`)
)

// readStatement determines which column each parameter is compared with or written to.
// If it can't, it returns an error, so that no query is silently left out.
func readStatement(text string) (statement, error) {
	head := headLine.FindStringSubmatch(text)
	if head == nil {
		return statement{}, fmt.Errorf("a query without a name: %.60s", text)
	}
	body := text[len(head[0]):]
	s := statement{name: head[1], text: text, answers: head[2] == "one" || head[2] == "many"}
	first := strings.ToUpper(strings.Fields(body)[0])
	s.writes, s.inserts = first != "SELECT", first == "INSERT"
	table := mainTable.FindStringSubmatch(body)
	if table == nil {
		return s, fmt.Errorf("query %s has no table", s.name)
	}
	s.table = table[1]
	known := map[int]parameter{}
	for n := range len(placeholder.FindAllString(body, -1)) {
		if value, given := fixedParameters[s.name+".$"+strconv.Itoa(n+1)]; given {
			known[n+1] = parameter{fixed: value}
		}
	}
	s.readInsertion(body, known)
	s.readComparisons(body, known)
	for _, m := range placeholder.FindAllStringSubmatch(body, -1) {
		n := atoi(m[1])
		if _, found := known[n]; !found {
			return s, fmt.Errorf("query %s: the column of $%d can't be determined; add it to fixedParameters as %q",
				s.name, n, s.name+".$"+m[1])
		}
	}
	for n := range len(known) {
		p := known[n+1]
		p.ofReferencedRow = slices.Contains(referencedRowParameters, s.name+".$"+strconv.Itoa(n+1))
		s.parameters = append(s.parameters, p)
	}
	return s, nil
}

func (s statement) readInsertion(body string, known map[int]parameter) {
	m := insertion.FindStringSubmatch(body)
	if m == nil {
		return
	}
	columns := strings.Split(m[1], ",")
	for i, value := range strings.SplitN(m[2], ",", len(columns)) {
		p := placeholder.FindStringSubmatch(value)
		if p == nil || !strings.HasPrefix(strings.TrimSpace(value), "$") {
			continue
		}
		if _, found := known[atoi(p[1])]; !found {
			known[atoi(p[1])] = parameter{table: s.table, column: strings.TrimSpace(columns[i]), operator: "="}
		}
	}
}

func (s statement) readComparisons(body string, known map[int]parameter) {
	tableOf := map[string]string{"": s.table, s.table: s.table}
	for rest := body; ; {
		at := aliases.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		m := []string{"", rest[at[2]:at[3]], rest[at[4]:at[5]]}
		rest = rest[at[3]:] // the word after a table may be the JOIN before the next
		tableOf[m[1]] = m[1]
		if !slices.Contains([]string{"SET", "WHERE", "ORDER", "ON", "JOIN", "LIMIT"}, strings.ToUpper(m[2])) {
			tableOf[m[2]] = m[1]
		}
	}
	learn := func(n string, p parameter) {
		if _, found := known[atoi(n)]; !found {
			known[atoi(n)] = p
		}
	}
	for _, m := range limited.FindAllStringSubmatch(body, -1) {
		learn(m[2], parameter{fixed: fixedParameters["limit"]})
	}
	// A parameter that is both written and compared ("used = $2 … AND used < $2") must
	// satisfy the comparison.
	equalsLast := compared.FindAllStringSubmatch(body, -1)
	rank := map[string]int{"=": 1, "<>": 2}
	slices.SortStableFunc(equalsLast, func(a, b []string) int { return rank[a[3]] - rank[b[3]] })
	for _, m := range equalsLast {
		learn(m[4], parameter{table: tableOf[m[1]], column: m[2], operator: m[3]})
	}
	flipped := map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<="}
	for _, m := range comparedTo.FindAllStringSubmatch(body, -1) {
		operator := m[2]
		if other, turned := flipped[operator]; turned {
			operator = other
		}
		learn(m[1], parameter{table: tableOf[m[3]], column: m[4], operator: operator})
	}
	for _, m := range added.FindAllStringSubmatch(body, -1) {
		learn(m[2], parameter{table: s.table, column: m[1], operator: "="})
	}
}

func atoi(digits string) int {
	n, _ := strconv.Atoi(digits) // the pattern matches digits only
	return n
}

// arguments returns the parameters' values for row i. A new row has the number fresh
// and refers to row i of the others.
func (s statement) arguments(g *sizedDB, i, fresh int64) ([]any, error) {
	arguments := make([]any, 0, len(s.parameters))
	for _, p := range s.parameters {
		if p.column == "" {
			arguments = append(arguments, p.fixed)
			continue
		}
		at := slices.IndexFunc(g.tables[p.table], func(c column) bool { return c.name == p.column })
		if at < 0 {
			return nil, fmt.Errorf("query %s: there is no column %s.%s", s.name, p.table, p.column)
		}
		c := g.tables[p.table][at]
		row := i
		switch {
		case p.ofReferencedRow:
			row = i * scatter % g.rows
		case s.inserts && p.table == s.table && !c.isReference:
			row = fresh
		}
		arguments = append(arguments, satisfying(c.value(row), p.operator))
	}
	return arguments, nil
}

// satisfying returns a value for which the comparison with the column is true: "later
// than now" is true for a slightly earlier now.
func satisfying(value any, operator string) any {
	smaller := operator == ">" || operator == ">="
	larger := operator == "<" || operator == "<="
	switch v := value.(type) {
	case int64:
		if smaller {
			return v - 1
		}
		if larger {
			return v + 1
		}
	case string:
		if smaller && v != "" {
			return v[:len(v)-1]
		}
		if larger || operator == "<>" {
			return v + "~"
		}
	}
	return value
}
