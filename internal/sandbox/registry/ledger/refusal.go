package ledger

import "fmt"

// Code is a result code of RFC 5730, 3.
type Code int

// Result codes in use.
const (
	Done              Code = 1000
	DonePending       Code = 1001
	NoMessages        Code = 1300
	AckToDequeue      Code = 1301
	DoneEnding        Code = 1500
	UnknownCommand    Code = 2000
	SyntaxError       Code = 2001
	UseError          Code = 2002
	Missing           Code = 2003
	OutOfRange        Code = 2004
	ValueSyntax       Code = 2005
	NoSuchVersion     Code = 2100
	NoSuchCommand     Code = 2101
	NoSuchOption      Code = 2102
	NoSuchExtension   Code = 2103
	BillingFailure    Code = 2104
	NotRenewable      Code = 2105
	NotTransferable   Code = 2106
	NotAuthenticated  Code = 2200
	NotAuthorised     Code = 2201
	WrongAuthInfo     Code = 2202
	TransferPending   Code = 2300
	NoTransferPending Code = 2301
	Exists            Code = 2302
	NotFound          Code = 2303
	StatusForbids     Code = 2304
	StillUsed         Code = 2305
	PolicyForbids     Code = 2306
	NoSuchService     Code = 2307
	DataPolicy        Code = 2308
	Failed            Code = 2400
	FailedClosing     Code = 2500
	NotAuthClosing    Code = 2501
	LimitClosing      Code = 2502
)

// Refusal is a refused command. It has no effect.
type Refusal struct {
	Code Code
	// Element is the offending element, such as "domain:name", and Value its
	// content; both may be empty.
	Element, Value string
	// Reason is human-readable.
	Reason string
}

// Error is for test logs; responses are built from the fields.
func (r *Refusal) Error() string { return fmt.Sprintf("%d: %s", r.Code, r.Reason) }

func refuse(code Code, element, value, reason string) *Refusal {
	return &Refusal{Code: code, Element: element, Value: value, Reason: reason}
}
