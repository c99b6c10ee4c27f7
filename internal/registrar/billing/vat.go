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

// Rule names the reason for a sale's VAT rate; doc.go has the table.
type Rule string

// Rules, as orders store them.
const (
	RuleUnknownCountry Rule = "unknown_country"
	RuleDomestic       Rule = "domestic"
	RuleOutsideEU      Rule = "outside_eu"
	RuleReverseCharge  Rule = "reverse_charge"
	RuleOSS            Rule = "eu_consumer_oss"
	RuleEUConsumer     Rule = "eu_consumer"
)

const seller = "DE"

// BadNet (KindInternal): a net amount that no price list can produce.
const BadNet registrar.Code = "bad_net"

// maxNet keeps net times rate far below overflow.
const maxNet = registrar.Cents(1) << 48

// VATIDValidator is the EU's VAT ID register.
type VATIDValidator interface {
	// Valid reports whether the id (Greek ones start with EL) belongs to a business that
	// trades within the EU. An error means that the register could not be queried.
	Valid(ctx context.Context, id string) (bool, error)
}

// Party is the VAT-relevant part of a customer.
type Party struct {
	// Country is an ISO 3166 code; empty while unknown.
	Country, PostalCode string
	VATID               string // starts with its country's two letters; empty if there is none
}

// Assessment is the VAT of a sale.
type Assessment struct {
	RateBasisPoints int // the rate in hundredths of a percent: 1900
	Rule            Rule
	Country         string            // the one whose VAT is charged; the customer's if none is charged
	VATID           string            // the validated id behind a reverse charge; empty otherwise
	Unchecked       bool              // the VAT ID could not be checked, so VAT is charged
	VAT             []registrar.Cents // the VAT of each net amount, in their order
}

// Config configures an Assessor.
type Config struct {
	Rates     *Rates
	Validator VATIDValidator
	OSS       bool // we use the One-Stop-Shop
	Logger    *slog.Logger
}

// Assessor assesses sales. It is safe for concurrent use.
type Assessor struct{ Config }

// New returns an Assessor.
func New(config Config) *Assessor {
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	return &Assessor{config}
}

// Assess computes the VAT for the net amounts of a sale's items.
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
	if len(id) < 4 || !VATIDOfCountry(id, country) {
		return consumer, nil
	}
	valid, err := a.Validator.Valid(ctx, id)
	switch {
	case ctx.Err() != nil:
		// The caller has gone; a fallback assessment would be useless.
		return Assessment{}, errors.Join(ctx.Err(), err)
	case err != nil:
		a.Logger.WarnContext(ctx, "VAT ID not checked, VAT charged", "country", country, "reason", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
		consumer.Unchecked = true
		return consumer, nil
	case valid:
		return Assessment{Rule: RuleReverseCharge, Country: country, VATID: id}, nil
	default:
		return consumer, nil
	}
}

// countryOf normalises a country code; false if it is not a country.
func countryOf(text string) (string, bool) {
	text = compactUpper(text)
	if text == "EL" { // Greece's code in VAT IDs
		text = "GR"
	}
	region, err := language.ParseRegion(text)
	return text, err == nil && len(text) == 2 && region.IsCountry()
}

// VATIDOfCountry reports whether a VAT ID starts like those of an ISO 3166 country.
func VATIDOfCountry(id, country string) bool {
	return strings.HasPrefix(compactUpper(id), vatIDPrefix(country))
}

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

// SplitVAT returns the VAT of each net amount at one rate. The total is rounded half-up
// and allocated by largest remainder, the first of equals first: no share is negative or
// a cent or more off its exact value, and the shares add up to the VAT of the total.
func SplitVAT(nets []registrar.Cents, rateBasisPoints int) ([]registrar.Cents, error) {
	const whole = 10_000
	if rateBasisPoints < 0 || rateBasisPoints > whole {
		return nil, &registrar.Error{Kind: registrar.KindInternal, Code: BadNet, Detail: "VAT rate out of range"}
	}
	var sum, given registrar.Cents
	rate := registrar.Cents(rateBasisPoints)
	shares := make([]registrar.Cents, len(nets))
	order := make([]int, len(nets))
	for i, net := range nets {
		if net < 0 || net > maxNet || sum > maxNet-net {
			return nil, &registrar.Error{Kind: registrar.KindInternal, Code: BadNet, Detail: "net amount out of range"}
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

// Gross returns a listed price with VAT, rounded like that of an invoice. An amount that
// no price list contains is returned as it is.
func Gross(net registrar.Cents, rateBasisPoints int) registrar.Cents {
	shares, err := SplitVAT([]registrar.Cents{net}, rateBasisPoints)
	if err != nil {
		return net
	}
	return net + shares[0]
}
