package billing

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/language"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Rule names why a sale bears the rate that it bears; doc.go has the table.
type Rule string

// The rules, as orders store them.
const (
	RuleUnknownCountry Rule = "unknown_country"
	RuleDomestic       Rule = "domestic"
	RuleOutsideEU      Rule = "outside_eu"
	RuleReverseCharge  Rule = "reverse_charge"
	RuleOSS            Rule = "eu_consumer_oss"
	RuleEUConsumer     Rule = "eu_consumer"
)

// seller is where we sell from.
const seller = "DE"

// BadNet goes with KindInternal: a net sum that no price list can have led to.
const BadNet registrar.Code = "bad_net"

// maxNet keeps a sum times its rate far away from overflow.
const maxNet = registrar.Cents(1) << 48

// VATIDValidator is the EU's register of VAT ids.
type VATIDValidator interface {
	// Valid says whether the id (GR's begin with EL) is one of a business that
	// trades within the EU. An error means that nobody could say.
	Valid(ctx context.Context, id string) (bool, error)
}

// Party is a customer as far as VAT is concerned.
type Party struct {
	// Country is in ISO 3166 letters; empty while the customer has told none.
	Country, PostalCode string
	// VATID begins with its country's two letters; empty if there is none.
	VATID string
}

// Assessment is the VAT of a sale.
type Assessment struct {
	// RateBasisPoints is the rate in hundredths of a percent: 1900.
	RateBasisPoints int
	Rule            Rule
	// Country is whose VAT it is; where none is charged, the customer's.
	Country string
	// VATID is the one that reverse charge rests on; empty otherwise.
	VATID string
	// Unchecked says that the VAT id could not be checked, so VAT is charged.
	Unchecked bool
	// VAT is that of each net sum, in their order.
	VAT []registrar.Cents
}

// Config is what an Assessor needs.
type Config struct {
	Rates     *Rates
	Validator VATIDValidator
	// OSS says that we take part in the One-Stop-Shop.
	OSS    bool
	Logger *slog.Logger
}

// Assessor assesses sales. It is safe for concurrent use.
type Assessor struct{ Config }

// New makes an Assessor.
func New(config Config) *Assessor {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	return &Assessor{config}
}

// Assess is the VAT for the net sums of a sale's lines.
func (a *Assessor) Assess(ctx context.Context, party Party, nets []registrar.Cents, at time.Time) (Assessment, error) {
	assessment, err := a.rule(ctx, party, at)
	if err != nil {
		return Assessment{}, err
	}
	assessment.VAT, err = SplitVAT(nets, assessment.RateBasisPoints)
	return assessment, err
}

func (a *Assessor) rule(ctx context.Context, party Party, at time.Time) (Assessment, error) {
	german, known := a.Rates.Rate(seller, "", at)
	if !known {
		return Assessment{}, &registrar.Error{Kind: registrar.KindInternal, Code: "no_rate", Detail: "no VAT rate for Germany"}
	}
	charged := func(rule Rule) Assessment {
		return Assessment{RateBasisPoints: german.BasisPoints, Rule: rule, Country: seller}
	}
	country, real := countryOf(party.Country)
	if !real {
		return charged(RuleUnknownCountry), nil
	}
	rate, inEU := a.Rates.Rate(country, party.PostalCode, at)
	switch {
	case !inEU || rate.Outside:
		return Assessment{Rule: RuleOutsideEU, Country: country}, nil
	case country == seller:
		return charged(RuleDomestic), nil
	}
	consumer := charged(RuleEUConsumer)
	if a.OSS {
		consumer = Assessment{RateBasisPoints: rate.BasisPoints, Rule: RuleOSS, Country: country}
	}
	id := compactUpper(party.VATID)
	if len(id) < 4 || id[:2] != vatIDPrefix(country) {
		return consumer, nil
	}
	valid, err := a.Validator.Valid(ctx, id)
	switch {
	case ctx.Err() != nil:
		// Whoever asked has gone: nobody is there to be charged.
		return Assessment{}, errors.Join(ctx.Err(), err)
	case err != nil:
		a.Logger.WarnContext(ctx, "VAT is charged, because a VAT id could not be checked", "country", country, "reason", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
		consumer.Unchecked = true
		return consumer, nil
	case valid:
		return Assessment{Rule: RuleReverseCharge, Country: country, VATID: id}, nil
	default:
		return consumer, nil
	}
}

// countryOf is a country as the rates write it. It is false for what is none.
func countryOf(text string) (string, bool) {
	text = compactUpper(text)
	if text == "EL" { // as Greece is written in VAT ids
		text = "GR"
	}
	region, err := language.ParseRegion(text)
	return text, err == nil && len(text) == 2 && region.IsCountry()
}

// vatIDPrefix is how a country's VAT ids begin.
func vatIDPrefix(country string) string {
	switch country {
	case "GR":
		return "EL"
	case "MC":
		return "FR"
	default:
		return country
	}
}

func compactUpper(text string) string {
	return strings.ToUpper(strings.Join(strings.Fields(text), ""))
}

// SplitVAT is the VAT of each net sum at one rate. It is rounded half-up over the sum
// of them and shared out by largest remainder, the first of equals first: no share is
// negative, none differs by a cent or more from its exact value, and together they
// are the VAT of the sum.
func SplitVAT(nets []registrar.Cents, rateBasisPoints int) ([]registrar.Cents, error) {
	const whole = 10_000
	if rateBasisPoints < 0 || rateBasisPoints > whole {
		return nil, &registrar.Error{Kind: registrar.KindInternal, Code: BadNet, Detail: "a VAT rate out of range"}
	}
	var sum, given registrar.Cents
	rate := registrar.Cents(rateBasisPoints)
	shares := make([]registrar.Cents, len(nets))
	order := make([]int, len(nets))
	for i, net := range nets {
		if net < 0 || net > maxNet || sum > maxNet-net {
			return nil, &registrar.Error{Kind: registrar.KindInternal, Code: BadNet, Detail: "a net sum out of range"}
		}
		sum += net
		shares[i] = net * rate / whole
		given += shares[i]
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(nets[b]*rate%whole, nets[a]*rate%whole)
	})
	for _, i := range order[:(sum*rate+whole/2)/whole-given] {
		shares[i]++
	}
	return shares, nil
}
