package catalog

import (
	"slices"
	"strings"
	"sync"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Category groups extensions for browsing. An extension is in several, or in "other".
type Category string

// CategoryPopular are the extensions that the list marks as popular.
const CategoryPopular Category = "popular"

// Categories returns all categories in display order.
func Categories() []Category {
	return []Category{CategoryPopular, "country", "place", "business", "technology", "shopping", "leisure", "other"}
}

// categoryLabels assigns extensions by meaning, where the list's columns don't.
var categoryLabels = map[Category]string{
	"place": `asia bayern berlin cologne de.com eu hamburg irish koeln lat london nrw nyc ruhr saarland swiss
		taipei tatar tirol tokyo vegas wien zuerich`,
	"business": `abogado accountant accountants agency archi associates attorney biz broker build builders business
		capital careers cash ceo claims cleaning com company construction consulting contractors credit delivery dental
		dentist doctor energy engineer engineering enterprises equipment esq estate exchange expert finance financial
		forex fund global gmbh group healthcare holdings hospital immo immobilien industries institute insure
		international investments jobs law lawyer lease legal limited llc loan loans ltd management marketing markets
		mba money mortgage partners plumbing pro productions prof properties property rent rentals repair sarl services
		solutions srl supplies supply surgery tax trade trading training ventures versicherung vet work works`,
	"technology": `ai app blog chat click cloud codes computer dev digital domains download email foo host icu ing io
		link mobi network online page site software space stream support systems tech technology tools website wiki zip`,
	"shopping": `auction autos bargains boutique cards cheap clothing compare coupons deals diamonds discount fashion
		florist flowers forsale furniture gift gifts gold gratis jewelry kaufen luxe luxury makeup market moda parts
		promo sale shoes shop shopping store tattoo tienda toys watch`,
	"leisure": `actor adult art audio baby band bar basketball beer bet bike bingo boats cafe camera camp casino
		catering christmas club coffee cooking cricket cruises dance date dating diet diy dog events family fan fans
		farm fish fishing fit fitness flights food football fun futbol gallery games garden golf guitars hockey holiday
		horse kitchen life lifestyle live living love menu motorcycles mov music party pet photo photography photos pics
		pictures pizza poker pub racing recipes reise reisen rest restaurant rip rocks rugby run salon show singles ski
		skin soccer social spa style surf tennis theater tours travel tube tv vacations viajes video villas vin vodka
		voyage wedding wine yachts yoga`,
}

var categoriesByTLD = sync.OnceValue(func() map[string][]Category {
	of := make(map[string][]Category)
	for category, list := range categoryLabels {
		for label := range strings.FieldsSeq(list) {
			of["."+label] = append(of["."+label], category)
		}
	}
	return of
})

// Contains reports whether an extension is in the category.
func (c Category) Contains(ext registrar.Extension) bool {
	switch c {
	case CategoryPopular:
		return ext.Popular
	case "country":
		return isCountryCode(ext.TLD)
	case "other":
		return len(categoriesByTLD()[ext.TLD]) == 0 && !isCountryCode(ext.TLD)
	default:
		return slices.Contains(categoriesByTLD()[ext.TLD], c)
	}
}

// isCountryCode reports whether a TLD has two letters (ISO 3166) or is below such a TLD.
func isCountryCode(tld string) bool {
	return len(tld)-strings.LastIndexByte(tld, '.') == len(".de")
}
