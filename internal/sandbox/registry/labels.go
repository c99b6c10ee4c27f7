package registry

// The labels of the table, separated by white space. Labels beyond ASCII are
// A-labels, as everywhere in the sandbox.
const (
	// alwaysTakenLabels are taken under every zone.
	alwaysTakenLabels = `
		google amazon facebook microsoft apple youtube wikipedia github netflix twitter
		instagram linkedin whatsapp paypal ebay adobe oracle intel samsung sony
		siemens bosch volkswagen bmw mercedes adidas nike spotify openai cloudflare`

	// knownLabels are taken under popular zones.
	knownLabels = `
		airbnb aldi allianz alibaba asus audi basf bayer booking canon cisco citroen commerzbank dell
		dhl discord disney docker dropbox ducati edeka epson ericsson ferrari fiat fujitsu gitlab heise
		henkel hitachi honda huawei hyundai ikea lego lenovo lidl logitech lufthansa mastercard mazda
		michelin miele mozilla nestle nintendo nivea nokia nvidia opel osram panasonic philips pinterest
		porsche puma reddit rewe rolex ryanair salesforce sap shell shopify skoda slack starbucks
		stripe telekom tesla toshiba toyota tripadvisor uber unilever visa vodafone volvo xerox yahoo
		zalando zeiss zoom

		anwalt apotheke arzt auto bank baum berlin blume brot buch computer dach essen fahrrad familie
		farbe fenster ferien feuerwehr film finanzen fisch fitness flughafen foto freiheit garten geld
		geschenk gesundheit hamburg handwerk handy haus hochzeit hotel hund immobilien jobs kaffee kino
		kinder koch kredit kunst leben liebe makler maler markt mode muenchen musik natur pferd reise
		restaurant schmuck schuhe schule shop spiel sport stadt strom taxi tier urlaub versicherung wein
		werkstatt wetter zahnarzt zeitung
		xn--mller-kva xn--bcher-kva xn--sterreich-z7a xn--mnchen-3ya

		agency baby beauty bike books business camera car cheap city cloud club coffee cooking credit
		dating design doctor dog energy events example-brand family fashion food forum fun games
		garden gift green health holiday home house insurance jewelry kitchen law learn loan london
		love mail market media money movie music news office online party pets photo pizza power radio
		recipes school search security sex shoes shopping software solar store sun tea test tickets
		tools toys travel vacation video water weather web wedding wine work world yoga`

	// undelegatedLabels are taken under every zone and have no nameservers: in the
	// DNS they look free.
	undelegatedLabels = `ohne-dns parked-without-dns`

	// icannReservedLabels can't be registered in generic top-level domains; nor can
	// single characters.
	icannReservedLabels = `nic whois www rdds example`

	// openlyReservedLabels are reserved under every zone, and RDAP says so.
	openlyReservedLabels = `reserved reserviert`

	// premiumLabels, and labels that begin with premiumPrefix, are free at a
	// premium price.
	premiumLabels = `gold crypto casino hotel24`
	premiumPrefix = `premium-`

	// transferPrefix begins labels that another registrar sponsors without a
	// transfer lock.
	transferPrefix = `transfer-`
)
