package registry

import "time"

// whoisStyles are the hosts with their own format. All others use icannStyle.
var whoisStyles = map[string]whoisStyle{
	"whois.verisign-grs.com": verisignStyle,
	"whois.denic.de":         denicStyle,
	"whois.eu":               euridStyle,
	"whois.nic.at":           rpslStyle,
	"whois.nic.ch":           switchStyle,
	"whois.nic.li":           switchStyle,
	"whois.nic.uk":           nominetStyle,
	"whois.nic.it":           italianStyle,
	"whois.dns.be":           belgianStyle,
	"whois.iis.se":           swedishStyle,
	"whois.iis.nu":           swedishStyle,
	"whois.punktum.dk":       danishStyle,
}

// icannNotice is part of every response in the gTLD style. Like the real ones, it
// contains words that can mislead a parser.
const icannNotice = `>>> Last update of WHOIS database: {now} <<<

TERMS OF USE: This registry is simulated and its records are invented. You may
not use them to send mail that nobody asked for. Whoever asks too often may find
the service limited for a while.
`

var icannStyle = whoisStyle{
	dates: time.RFC3339,
	taken: `Domain Name: {domain}
Registry Domain ID: {handle}
Registrar WHOIS Server: whois.registrar.example
Registrar URL: {registrar-url}
Updated Date: {changed}
Creation Date: {created}
Registry Expiry Date: {expires}
Registrar: {registrar}
Registrar IANA ID: {registrar-id}
Registrar Abuse Contact Email: {registrar-abuse}
Domain Status: {status} https://icann.org/epp#{status}
{contacts}
Name Server: {ns}
DNSSEC: {dnssec}
` + icannNotice,
	free: `Domain not found.
` + icannNotice,
	reserved: `This name is reserved by the registry and can't be registered.
` + icannNotice,
	throttled: "Query rate limit exceeded. Please try again later.\n",
	roles:     []string{"Registrant", "Admin", "Tech"},
	contact: `Registry {role} ID: {handle}
{role} Name: {person}
{role} Organization: {company}
{role} Street: {street}
{role} City: {city}
{role} Postal Code: {postal}
{role} Country: DE
{role} Phone: {phone}
{role} Email: {email}
`,
}

// verisignStyle is that of a thin registry: no contacts except the registrar's
// abuse address.
var verisignStyle = whoisStyle{
	prefixes: []string{"domain ", "="},
	dates:    time.RFC3339,
	taken: `   Domain Name: {DOMAIN}
   Registry Domain ID: {handle}
   Registrar WHOIS Server: whois.registrar.example
   Registrar URL: {registrar-url}
   Updated Date: {changed}
   Creation Date: {created}
   Registry Expiry Date: {expires}
   Registrar: {registrar}
   Registrar IANA ID: {registrar-id}
{contacts}
   Domain Status: {status} https://icann.org/epp#{status}
   Name Server: {ns}
   DNSSEC: {dnssec}
>>> Last update of whois database: {now} <<<
` + verisignNotice,
	free: `No match for "{DOMAIN}".
>>> Last update of whois database: {now} <<<
` + verisignNotice,
	reserved: `"{DOMAIN}" is reserved by the registry and can't be registered.
>>> Last update of whois database: {now} <<<
` + verisignNotice,
	throttled: "WHOIS query limit exceeded. Try again later.\n",
	roles:     []string{"Registrar"},
	contact: `   {role} Abuse Contact Email: {email}
   {role} Abuse Contact Phone: {phone}
`,
}

const verisignNotice = `
NOTICE: The expiration date above is the day on which the sponsorship of the
registrar ends, which need not be the day on which the holder's contract does.
`

// denicStyle shows hardly any data, and no registrant handle.
var denicStyle = whoisStyle{
	prefixes: []string{"-T dn,ace ", "-T dn ", "-T ace,dn "},
	dates:    time.RFC3339,
	taken: denicNotice + `Domain: {domain}
Nserver: {ns}
Status: connect
Changed: {changed}
{contacts}
`,
	free: denicNotice + `Domain: {domain}
Status: free
`,
	reserved: denicNotice + `Domain: {domain}
Status: reserved
`,
	throttled: "Error: 55000000002 Connection refused; access control limit reached.\n",
	roles:     []string{"Tech-C"},
	contact:   "% {role} {handle}\n",
}

const denicNotice = `% This database is simulated, and so are the rights in it.
% Its answers may be kept no longer than the question needs.
%

`

var euridStyle = whoisStyle{
	dates: "2006-01-02",
	taken: euridNotice + `Domain: {domain}
Script: LATIN

Status: NOT AVAILABLE

Registrant:
        NOT DISCLOSED!

{contacts}
Registrar:
        Name: {registrar}
        Website: {registrar-url}

Name servers:
        {ns}

Please visit the web-based lookup for more.
`,
	free: euridNotice + `Domain: {domain}
Script: LATIN

Status: AVAILABLE
`,
	reserved: euridNotice + `Domain: {domain}
Script: LATIN

Status: RESERVED
`,
	throttled: "% Excessive querying, grace period of 60 seconds.\n",
	roles:     []string{"Technical"},
	contact: `{role}:
        Organisation: {company}
        Language: de
        Email: {email}

`,
}

const euridNotice = `% Whatever stands below was made up by a program.
% It is no offer and names no holder.

`

// rpslStyle uses RPSL objects, like the regional internet registries.
var rpslStyle = whoisStyle{
	dates: "20060102 15:04:05",
	taken: rpslNotice + `domain:         {domain}
registrar:      {registrar} ( {registrar-url} )
registrant:     canary-7f3a-1
tech-c:         canary-7f3a-3
nserver:        {ns}
changed:        {changed}
source:         AT-SIM

{contacts}
`,
	free: rpslNotice + `% nothing found
`,
	reserved: rpslNotice + `domain:         {domain}
remarks:        this name is reserved by the registry and can't be registered
source:         AT-SIM
`,
	throttled: rpslNotice + "% Quota exceeded\n",
	roles:     []string{"registrant", "admin-c", "tech-c"},
	contact: `personname:     {person}
organization:   {company}
street address: {street}
postal code:    {postal}
city:           {city}
country:        Austria
phone:          {phone}
e-mail:         {email}
nic-hdl:        {handle}
source:         AT-SIM

`,
}

const rpslNotice = `% Simulated data, free of charge and free of truth.
% Automated questions beyond a modest number are limited.

`
