package lookup

import (
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// ruling is what an extension's own rules say about a label, before any
// registry is asked.
type ruling uint8

const (
	// registrable: a missing record may mean that the name is free.
	registrable ruling = iota
	// doubtful: the registry withholds such labels or sells them at prices of
	// their own, and shows neither in RDAP or WHOIS. Only EPP can call it free.
	doubtful
	// withheld: nobody can register it.
	withheld
)

// withheldGeneric are the labels that ICANN's registry agreement (specification
// 5) withholds below every generic extension.
var withheldGeneric = map[string]bool{"example": true, "nic": true, "rdds": true, "whois": true, "www": true}

// Labels shorter than this are doubtful. Generic registries withhold one and
// two characters or sell them as premium names.
const (
	shortestGeneric = 3
	shortestCountry = 2
)

// shortest holds the extensions whose registries sell other lengths than most of
// their kind.
var shortest = map[string]int{
	".de": 1, ".at": 1, ".co.at": 1, ".or.at": 1, // DENIC since 2009, nic.at since 2016
	".ch": 3, ".li": 3, ".it": 3,
}

// withIDN are the extensions that are known to sell names beyond ASCII. Below
// any other one, an IDN without a record may be one that can't be registered.
var withIDN = setOf(`.de .com .net .org .info .biz .eu .at .co.at .or.at .ch .li .be .dk .se .nu .no .pl .es .fr
	.it .pt .lt .lv .lu .hu .berlin .hamburg .koeln .cologne .bayern .nrw .wien .tirol .ruhr .saarland .shop .xyz
	.cc .tv .name .asia .club .gmbh .online .store .tech .site .space .website .xn--p1acf`)

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// judge applies the rules of the name's extension to its label.
func judge(name registrar.Name) ruling {
	tld, label := name.TLD(), name.Label()
	generic := isGeneric(tld)
	if generic && withheldGeneric[label] {
		return withheld
	}
	minimum, known := shortest[tld]
	switch {
	case known:
	case generic:
		minimum = shortestGeneric
	default:
		minimum = shortestCountry
	}
	if len(label) < minimum || strings.HasPrefix(label, "xn--") && !withIDN[tld] {
		return doubtful
	}
	return registrable
}

// isGeneric: extensions of two letters, and what lies below them, belong to
// countries; IDN extensions in our list are generic.
func isGeneric(tld string) bool {
	last := tld[strings.LastIndexByte(tld, '.')+1:]
	return len(last) > 2
}
