package mcp

import (
	"errors"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// itemFailure says why an item can't be ordered. The codes are stable:
// docs/agents.md and the output schema list them all.
type itemFailure struct {
	Domain      string      `json:"domain"`
	Code        string      `json:"code"`
	Message     string      `json:"message"`
	Retryable   bool        `json:"retryable"`
	RetryAfter  int64       `json:"retryAfter,omitempty"`
	Alternative *suggestion `json:"alternative,omitempty"`
	URL         string      `json:"url,omitempty"`
}

// suggestion is a call that helps, ready to send.
type suggestion struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

// Wire codes of items that are used by name.
const (
	itemInvalidName     = "invalid_name"
	itemUnsupported     = "unsupported_extension"
	itemRegistryRefused = "registry_refused"
	itemUpstreamFailed  = "upstream_failed"
	itemUndecided       = string(provision.Undecided)
	itemYearsNotSold    = string(provision.TermNotSold)
)

// itemRule is what a model reads about one reason: a message, and the tool that helps.
type itemRule struct{ message, tool string }

// suggest returns the call of a tool that helps with a domain; nil without a tool.
func suggest(tool, domain string) *suggestion {
	label, extension, _ := strings.Cut(domain, ".")
	arguments := map[string]any{}
	switch tool {
	case "":
		return nil
	case "domain_search":
		arguments["query"] = label
	case "list_tlds":
		arguments["category"] = categoryPopular
	case "tld_price":
		arguments["tld"] = "." + extension
	case "list_my_domains":
		arguments["search"] = domain
	case "domain_check":
		arguments["domain"] = domain
	}
	return &suggestion{Tool: tool, Arguments: arguments}
}

// itemRules are the reasons why an item can't be ordered or was not provisioned.
var itemRules = map[registrar.Code]itemRule{
	provision.NameTaken:           {"The name is taken or reserved, so it can't be registered. Choose another one with domain_search, or, if the user holds it at another registrar, use the type transfer.", "domain_search"},
	registrar.NameReserved:        {"The registry has reserved this name. Choose another one with domain_search.", "domain_search"},
	provision.Undecided:           {"The registry did not decide about this name, so its availability is unknown. Try again later, or leave it out; do not call it free or taken.", ""},
	registrar.NamePremium:         {"The registry charges a premium price for this name, and it can't be sold here. Choose another one with domain_search.", "domain_search"},
	registrar.NameHeld:            {"The name is already registered here, or an order for it is in progress. If the user may hold it, check list_my_domains; otherwise choose another one.", "list_my_domains"},
	registrar.NoRegistryAccount:   {"Names under this extension can be looked up here but not ordered. list_tlds shows other extensions.", "list_tlds"},
	provision.NotEligible:         {"The extension has a rule that can't be met here, so its names can only be looked up. Choose another extension.", "list_tlds"},
	order.NoPrice:                 {"The price list has no price for this extension, so its names can only be looked up. Choose another extension.", "list_tlds"},
	provision.NoInboundTransfer:   {"Under this extension only the current registrar can start a transfer, so it can't be ordered here. Tell the user to ask that registrar.", ""},
	provision.NotRegistered:       {"The name is not registered, so there is nothing to transfer. If the user wants it, domain_check says whether it can be registered.", "domain_check"},
	provision.Locked:              {"The name can't be transferred now: it is locked, or was registered or transferred recently. Ask the user to have the current registrar remove the lock, then try again.", ""},
	registrar.TransferRejected:    {"The current registrar rejected the transfer. Tell the user to ask that registrar for the reason, then order the transfer again.", ""},
	provision.WrongCode:           {"The auth code is wrong. Order the transfer again; the user enters the right code at payment_url.", ""},
	provision.CodeMissing:         {"The transfer needs its auth code, which the user enters at payment_url.", ""},
	provision.NoRegistrant:        {"The account has no registrant data yet. Ask the user to enter it at url.", ""},
	provision.NotYours:            {"This account does not hold the domain, so it can't renew it. list_my_domains shows what it holds.", "list_my_domains"},
	provision.NotRenewable:        {"The registry does not renew this name now: it is being transferred, was deleted, or is locked. list_my_domains shows its state.", "list_my_domains"},
	provision.NotRestorable:       {"The domain was not deleted, or can't be restored any more.", "list_my_domains"},
	provision.TermNotSold:         {"This name is not sold for that many years: omit years for the shortest term, or send fewer. The registry decides what a transfer adds.", "tld_price"},
	provision.BadTerm:             {"The registry does not sell this name for that term. For a renewal, choose fewer years; else choose another extension.", ""},
	holder.NoSuchHolder:           {"The customer has no holder with this id. list_holders shows the ids; the user adds holders in the portal.", "list_holders"},
	registrar.IdentityRequired:    {"The extension requires a verified identity of the holder, and only the customer can verify theirs. Order the name for the customer, or choose another extension.", "list_tlds"},
	order.RenewalInProgress:       {"The domain is being renewed automatically right now, so it can't be ordered again. list_my_domains shows the new date in a few minutes.", "list_my_domains"},
	domainchange.DomainRestricted: {"The service has locked the domain. The user must contact us.", ""},
}

// eppCodes map registry refusals to our codes; every other one is registry_refused.
var eppCodes = map[registrar.Code]registrar.Code{
	registrar.EPPExists:      provision.NameTaken,
	registrar.EPPAuthInfo:    provision.WrongCode,
	registrar.EPPNotEligible: provision.NotEligible,
}

// ruleFor returns the wire code and the rule for a reason. The wire code of most
// reasons is their own.
func ruleFor(kind registrar.Kind, code registrar.Code) (string, itemRule) {
	if same, ok := eppCodes[code]; ok {
		code = same
	}
	if code == registrar.ExtensionNotCarried {
		kind = registrar.KindUnsupported
	}
	if rule, ok := itemRules[code]; ok {
		return string(code), rule
	}
	text, known := messages[code]
	switch {
	case kind == registrar.KindInvalid && known:
		return itemInvalidName, itemRule{text, ""}
	case kind == registrar.KindUnsupported:
		return itemUnsupported, itemRule{messageUnsupported, "list_tlds"}
	case kind == registrar.KindUpstream, kind == registrar.KindRateLimited, kind == registrar.KindInternal:
		return itemUpstreamFailed, itemRule{messageFor(code, messageUpstream), ""}
	default:
		return itemRegistryRefused, itemRule{"The registry does not accept this name. Leave it out, or choose another one with domain_search.", "domain_search"}
	}
}

// upstreamRetryAfter is the delay before a retry if the registry gives none.
const upstreamRetryAfter = time.Minute

func (s *Server) itemFailure(problem ItemProblem) itemFailure {
	e := &registrar.Error{Kind: registrar.KindInternal}
	errors.As(problem.Reason, &e)
	code, rule := ruleFor(e.Kind, e.Code)
	f := itemFailure{Domain: problem.Domain, Code: code, Message: rule.message, Retryable: code == itemUpstreamFailed || code == itemUndecided}
	if f.Retryable {
		f.RetryAfter = seconds(max(e.RetryAfter, upstreamRetryAfter))
	}
	f.Alternative = suggest(rule.tool, problem.Domain)
	if e.Code == provision.NoRegistrant {
		f.URL = s.url(ui.RegistrantPath)
	}
	return f
}

// itemsRejected is what a model reads about items that can't be ordered. If each of them can
// be had a little later, so can the order: then the code is upstream_failed.
func (s *Server) itemsRejected(problems []ItemProblem) failure {
	f := failure{Code: notPayable, Reason: "items_rejected", Message: messageNotPayable, Retryable: len(problems) > 0}
	for _, problem := range problems {
		item := s.itemFailure(problem)
		if item.Code == itemYearsNotSold { // the caller's argument is wrong, not the name
			f.Code, f.Message = invalidInput, messageTerm
		}
		f.Items = append(f.Items, item)
		f.Retryable = f.Retryable && item.Retryable
		f.RetryAfter = max(f.RetryAfter, item.RetryAfter)
	}
	if f.Retryable {
		f.Code, f.Message = upstreamFailed, messageUnasked
	} else {
		f.RetryAfter = 0
	}
	return f
}

// notCancelable is what a model reads about an order that can't be canceled.
func (s *Server) notCancelable(err *NotCancelable) failure {
	f := failure{Code: notCancelable, URL: err.URL}
	switch order.State(err.Status) {
	case order.Paying:
		f.Reason, f.Message = "payment_in_progress", "A payment for this order is in progress, so it can't be canceled now. The user finishes or leaves it at url; then call get_order_status."
		f.Retryable, f.RetryAfter = true, seconds(upstreamRetryAfter)
	case order.Expired:
		f.Reason, f.Message, f.URL = "order_expired", "The order has expired unpaid, so there is nothing to cancel.", ""
	default:
		f.Reason, f.Message = "order_paid", "The order is paid or confirmed, so it can't be canceled. The user sees it at url; get_order_status shows the result."
	}
	return f
}

// requirements say what the user must provide, and where.
func (s *Server) requirements(needs []Need, paymentURL, verificationURL string) []requirement {
	var list []requirement
	for _, need := range needs {
		r := requirement{Domain: need.Domain, URL: paymentURL}
		switch need.What {
		case order.MissingRegistrant:
			r.Code, r.URL = "registrant_data", s.url(ui.RegistrantPath)
			r.Message = "The account's registrant data is incomplete. The user enters it at url."
		case order.MissingCode:
			r.Code = "auth_code"
			r.Message = "A transfer needs its auth code. The user enters it at url; never ask for it in the conversation."
			if paymentURL == "" { // a dry run has no links
				r.Message = "A transfer needs its auth code. The user enters it at payment_url once the order exists; never ask for it in the conversation."
			}
		case order.MissingIdentity:
			r.Code, r.URL = "identity", verificationURL
			r.Message = "The user must verify their identity at url before the order can be paid."
			if verificationURL == "" {
				r.Message = "The user must verify their identity before the order can be paid, at verification_url once the order exists."
			}
		default:
			r.Code, r.Rule = "extension_rule", need.What
			r.Message = "The extension has a rule that the registrant does not meet yet. The user sees it at url."
			if paymentURL == "" {
				r.URL = s.url(ui.RegistrantPath)
			}
			if text := ui.RegistrantProblem(need.What); text != "" {
				r.Message, r.URL = text+" The user changes it at url.", s.url(ui.RegistrantPath)
			}
		}
		list = append(list, r)
	}
	return list
}

// requirement is something that the user must provide before an order can be paid.
type requirement struct {
	Code    string `json:"code"`
	Domain  string `json:"domain,omitempty"`
	Rule    string `json:"rule,omitempty"`
	Message string `json:"message"`
	URL     string `json:"url,omitempty"` // empty in a dry run, whose order has no links
}

// itemIssue is why a paid item was not provisioned.
type itemIssue struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// newItemIssue is nil for an item that did not fail.
func newItemIssue(reason registrar.Code) *itemIssue {
	if reason == "" {
		return nil
	}
	code, rule := ruleFor(registrar.KindConflict, reason)
	return &itemIssue{Code: code, Message: rule.message}
}
