package whois

import "github.com/dotkontor/dotkontor/internal/registrar/lookup"

// sampleAnswers are synthetic responses, one for each rule of the classifier.
var sampleAnswers = []struct {
	rule, name, answer string
	want               lookup.State
}{
	{"thin registry, free", "kranich-47.com", "No match for \"KRANICH-47.COM\".\r\n>>> Last update of whois database: 2026-01-01T00:00:00Z <<<\r\n\r\nNOTICE: The expiration date displayed here is not yours.\r\n", lookup.Free},
	{"thin registry, asked for a domain", "kranich-47.com", "No match for domain \"KRANICH-47.COM\".\r\n", lookup.Free},
	{"thin registry, taken", "kranich-47.com", "   Domain Name: KRANICH-47.COM\r\n   Registry Domain ID: 1_DOMAIN_COM\r\n   Registrar: Example Registrar GmbH\r\n   Name Server: NS1.EXAMPLE.NET\r\n\r\nTERMS OF USE: no match for lawful use.\r\n", lookup.Registered},
	{"status line, free", "kranich-47.de", "Domain: kranich-47.de\nStatus: free\n", lookup.Free},
	{"status line, taken", "kranich-47.de", "Domain: kranich-47.de\nNserver: ns1.example.net\nStatus: connect\n", lookup.Registered},
	{"status line alone, taken", "kranich-47.de", "Domain: kranich-47.de\nStatus: connect\n", lookup.Registered},
	{"status line, taken without nameserver", "kranich-47.de", "Domain: kranich-47.de\nStatus: failed\n", lookup.Registered},
	{"status line, invalid decides nothing", "kranich-47.de", "Domain: kranich-47.de\nStatus: invalid\n", lookup.Undecided},
	{"status line in capitals, free", "kranich-47.eu", "% banner\n\nDomain: kranich-47.eu\nScript: LATIN\n\nStatus: AVAILABLE\n", lookup.Free},
	{"status line, not available", "kranich-47.be", "Domain:\tkranich-47.be\nStatus:\tNOT AVAILABLE\nRegistered:\tMon Jan 1 2024\n", lookup.Registered},
	{"only a comment carries the answer", "kranich-47.at", "% Copyright somebody\n%\n% nothing found\n", lookup.Free},
	{"a comment with an error number", "kranich-47.cz", "%  (c) somebody\n\n%ERROR:101: no entries found\n%\n% No entries found.\n", lookup.Free},
	{"a comment's sentence does not count", "kranich-47.at", "% It can be seen here whether a name is not found in the register or not.\n", lookup.Undecided},
	{"sentence about an entry", "kranich-47.ch", "We do not have an entry in our database matching your query.\n", lookup.Free},
	{"sentence with the name", "kranich-47.se", "# Copyright\n\ndomain \"kranich-47.se\" not found.\n", lookup.Free},
	{"sentence about the selected source", "kranich-47.dk", "# Hello 127.0.0.1\n\nNo entries found for the selected source.\n", lookup.Free},
	{"name is free", "kranich-47.nl", "kranich-47.nl is free\n", lookup.Free},
	{"name is not free", "kranich-47.nl", "kranich-47.nl is not free\n", lookup.Undecided},
	{"label instead of name", "kranich-47.to", "Some whoisd 1.1\nNo match for kranich-47\n", lookup.Free},
	{"label and nameservers", "kranich-47.to", "Some whoisd 1.1\nkranich-47 ns1.example.net\nkranich-47 ns2.example.net\n", lookup.Registered},
	{"generic registry, free", "kranich-47.xyz", "Domain not found.\n\nTerms of Use: Access may be limited.\n", lookup.Free},
	{"object does not exist", "kranich-47.xyz", "The queried object does not exist: DOMAIN NOT FOUND\n", lookup.Free},
	{"value on the next line", "kranich-47.co.uk", "\n    Domain name:\n        kranich-47.co.uk\n\n    Registrar:\n        Example Ltd\n\n    Registered on: 01-Jan-2020\n", lookup.Registered},
	{"two free lines", "kranich-47.co.uk", "\n    No match for \"kranich-47.co.uk\".\n\n    This domain name has not been registered.\n", lookup.Free},
	{"brackets", "kranich-47.jp", "[ banner ]\nDomain Information:\n[Domain Name]                   KRANICH-47.JP\n[Name Server]                   ns1.example.net\n[Created on]  2020/01/01\n", lookup.Registered},
	{"dotted keys", "kranich-47.fi", "domain.............: kranich-47.fi\nstatus.............: Registered\ncreated............: 1.1.2020\n", lookup.Registered},
	{"Spanish", "kranich-47.com.ar", "El dominio no se encuentra registrado en NIC Ejemplo\n", lookup.Free},
	{"Russian", "kranich-47.ru", "Домен не найден\n", lookup.Free},
	{"IDN in U-labels", "xn--brche-lva.de", "Domain: brüche.de\nStatus: free\n", lookup.Free},
	{"IDN in Latin-1", "xn--brche-lva.de", "Domain: br\xfcche.de\nStatus: free\n", lookup.Free},
	{"free status of an unreadable name", "xn--brche-lva.de", "Domain: br?che.de\nStatus: free\n", lookup.Undecided},
	{"free status of another IDN", "xn--brche-lva.de", "Domain: bräche.de\nStatus: free\n", lookup.Undecided},
	{"IDN record in both forms", "xn--brche-lva.de", "Domain: brüche.de\nDomain-Ace: xn--brche-lva.de\nNserver: ns1.example.net\nStatus: connect\n", lookup.Registered},

	{"free phrase about another name", "kranich-47.com", "No match for \"ANDERER.COM\".\n", lookup.Undecided},
	{"free phrase about another label", "kranich-47.to", "No match for anderer\n", lookup.Undecided},
	{"free status of another name", "kranich-47.de", "Domain: anderer.de\nStatus: free\n", lookup.Undecided},
	{"record of another name", "kranich-47.de", "Domain: anderer.de\nNserver: ns1.example.net\nChanged: 2020-01-01\nHolder: X\n", lookup.Undecided},
	{"free phrase inside a record", "kranich-47.gf", "domain: kranich-47.gf\nregistrar: X\ncreated: 2020-01-01\nNO OBJECT FOUND!\nobject: 210\n", lookup.Registered},
	{"free phrase beside one field", "kranich-47.gf", "NOT FOUND\nRegistrar: Example\n", lookup.Undecided},
	{"free phrase in terms", "kranich-47.xyz", "Terms of use: you may ask.\nNot found\nis what we say.\n\nHello.\n", lookup.Undecided},
	{"not available for registration", "kranich-47.xyz", "This name is not available for registration.\n", lookup.Reserved},
	{"reserved line", "kranich-47.am", "Reserved name: Reserved brand name\n", lookup.Reserved},
	{"reserved status", "kranich-47.xyz", "Domain Name: kranich-47.xyz\nDomain Status: Reserved\n", lookup.Reserved},
	{"reserved beats free", "kranich-47.xyz", "NOT FOUND\nThis domain is reserved by the registry\n", lookup.Reserved},
	{"rights reserved is not reserved", "kranich-47.xyz", "All rights reserved.\n\nNOT FOUND\n", lookup.Free},
	{"terms about limits do not throttle", "kranich-47.es", "  Ten queries are allowed. Should this limit be exceeded, access ends.\n\n There is no information available on the domain consulted.\n", lookup.Free},
	{"wrong question decides nothing", "kranich-47.tr", "Invalid input\n", lookup.Undecided},
	{"chatter decides nothing", "kranich-47.xyz", "Hello, world.\n", lookup.Undecided},
}
