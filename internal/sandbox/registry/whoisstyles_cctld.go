package registry

// Formats of further ccTLD registries.

var switchStyle = whoisStyle{
	dates: "2006-01-02",
	taken: `Domain name:
{domain}

{contacts}
Registrar:
{registrar}

First registration date:
{created}

DNSSEC:N

Name servers:
{ns}
`,
	free: `We do not have an entry in our database matching your query.
`,
	reserved: `The domain name {domain} is reserved and can not be registered.
`,
	throttled: "Requests of this client are not permitted: too many queries. Try again later.\n",
	roles:     []string{"Holder of domain name", "Administrative contact", "Technical contact"},
	contact: `{role}:
{company}
{person}
{street}
DE-{postal} {city}
{phone}
{email}

`,
}

var nominetStyle = whoisStyle{
	dates: "02-Jan-2006",
	taken: `
    Domain name:
        {domain}

{contacts}
    Registrar:
        {registrar} [Tag = SIM-{registrar-id}]
        URL: {registrar-url}

    Relevant dates:
        Registered on: {created}
        Expiry date:  {expires}
        Last updated:  {changed}

    Registration status:
        Registered until expiry date.

    Name servers:
        {ns}

` + nominetNotice,
	free: `
    No match for "{domain}".

    This domain name has not been registered.

` + nominetNotice,
	reserved: `
    The name "{domain}" is reserved.

    This domain cannot be registered.

` + nominetNotice,
	throttled: `
    Error for your request.

    You have exceeded your query allowance. Try again later.
`,
	roles: []string{"Registrant"},
	contact: `    {role}:
        {company}, {person}

    {role}'s address:
        {street}
        {city}
        {postal}
        Germany

`,
}

const nominetNotice = `    WHOIS lookup made at {now}

--
This record comes from a simulation and may be used for nothing else.
`

var italianStyle = whoisStyle{
	dates: "2006-01-02 15:04:05",
	taken: italianNotice + `Domain:             {domain}
Status:             ok
Signed:             no
Created:            {created}
Last Update:        {changed}
Expire Date:        {expires}

{contacts}
Registrar
  Organization:     {registrar}
  Name:             SIM-{registrar-id}
  Web:              {registrar-url}

Nameservers
  {ns}
`,
	free: italianNotice + `Domain:             {domain}
Status:             AVAILABLE
`,
	reserved: italianNotice + `Domain:             {domain}
Status:             RESERVED
`,
	throttled: "Denied: the number of queries exceeded the limit. Try again later.\n",
	roles:     []string{"Registrant", "Admin Contact", "Technical Contacts"},
	contact: `{role}
  Name:             {person}
  Organization:     {company}
  Address:          {street}
                    {city}
                    {postal}
                    DE

`,
}

const italianNotice = `
*********************************************************************
* The following is the output of a program that invents registries. *
*********************************************************************

`

var belgianStyle = whoisStyle{
	dates: "Mon Jan 2 2006",
	taken: belgianNotice + `Domain:	{domain}
Status:	NOT AVAILABLE
Registered:	{created}

Registrant:
	Not shown, please visit the website for webbased whois.

{contacts}
Registrar:
	Name:	{registrar}
	Website:	{registrar-url}

Nameservers:
	{ns}

Flags:
	{status}
`,
	free: belgianNotice + `Domain:	{domain}
Status:	AVAILABLE
`,
	reserved: belgianNotice + `Domain:	{domain}
Status:	RESERVED
`,
	throttled: "% Maximum queries per hour reached. Try again later.\n",
	roles:     []string{"Registrar Technical Contacts"},
	contact: `{role}:
	Name:	{person}
	Organisation:	{company}
	Phone:	{phone}
	Email:	{email}

`,
}

const belgianNotice = `% This service invents its answers. They may be read by anybody
% and relied upon by nobody.
%

`

var swedishStyle = whoisStyle{
	dates: "2006-01-02",
	taken: swedishNotice + `state:            active
domain:           {domain}
holder:           canary-7f3a-1
{contacts}
created:          {created}
modified:         {changed}
expires:          {expires}
nserver:          {ns}
dnssec:           unsigned delegation
registry-lock:    unlocked
status:           {status}
registrar:        {registrar}
`,
	free: swedishNotice + `domain "{domain}" not found.
`,
	reserved: swedishNotice + `state:            reserved
domain:           {domain}
`,
	throttled: "# Too many queries from this address. Try again later.\n",
	roles:     []string{"owner", "admin-c", "tech-c"},
	contact: `{role}-id: {handle}
{role}-name: {person}
{role}-email: {email}
`,
}

const swedishNotice = `# A simulated registry. All records are without meaning.
#
`

var danishStyle = whoisStyle{
	prefixes: []string{"--charset=utf-8 ", "--show-handles ", "--charset=latin1 "},
	dates:    "2006-01-02",
	taken: danishNotice + `Domain:               {domain}
DNS:                  {domain}
Registered:           {created}
Expires:              {expires}
Registration period:  1 year
VID:                  no
DNSSEC:               Unsigned delegation
Status:               Active

{contacts}
Nameservers
Hostname:             {ns}
`,
	free: danishNotice + `No entries found for the selected source.
`,
	reserved: danishNotice + `Domain:               {domain}
Status:               Reserved
`,
	throttled: "# Too many requests from this address. Try again later.\n",
	roles:     []string{"Registrant"},
	contact: `{role}
Handle:               {handle}
Name:                 {person}
Address:              {street}
Postalcode:           {postal}
City:                 {city}
Country:              DE
Phone:                {phone}
Email:                {email}

`,
}

const danishNotice = `# Hello. This is a simulated WHOIS server; its holders do not exist.
#

`
