package whois

import "slices"

// canary is in every personal field of the sample records.
const canary = "zzkanarie"

// sampleRecords are synthetic records, one for each family of layouts. want has the
// format of summary.
var sampleRecords = slices.Concat(sampleBlocks, sampleLists)

type sampleRecord struct{ family, name, answer, want string }

// sampleBlocks cover headings and the lines below them.
var sampleBlocks = []sampleRecord{
	{"generic registry", "kranich-47.xyz", `Domain Name: KRANICH-47.XYZ
Registry Domain ID: D1-EX
Registrar WHOIS Server: whois.example.net
Registrar URL: http://www.example.net
Updated Date: 2022-02-03T04:05:06Z
Creation Date: 2020-01-02T03:04:05.0Z
Registry Expiry Date: 2030-01-02T03:04:05Z
Registrar: Example Registrar, Inc.
Registrar IANA ID: 9999
Registrar Abuse Contact Email: zzkanarie@example.net
Registrar Abuse Contact Phone: +1.zzkanarie
Reseller: zzkanarie
Domain Status: clientTransferProhibited https://icann.org/epp#clientTransferProhibited
Registrant Name: zzkanarie
Registrant Organization: zzkanarie
Registrant Street: zzkanarie
Registrant City: zzkanarie
Registrant Phone: zzkanarie
Registrant Email: zzkanarie@example.net
Admin Name: zzkanarie
Tech Organization: zzkanarie
Billing Email: zzkanarie@example.net
Name Server: NS1.EXAMPLE.NET
Name Server: NS2.EXAMPLE.NET
DNSSEC: unsigned
>>> Last update of WHOIS database: 2024-01-01T00:00:00Z <<<
`, "2020-01-02T03:04:05Z 2022-02-03T04:05:06Z 2030-01-02T03:04:05Z | ns1.example.net ns2.example.net | clientTransferProhibited | Example Registrar, Inc."},
	{"fields without spaces", "kranich-47.asia", `Domain ID:D1-ASIA
Domain Name:KRANICH-47.ASIA
Created On:18-Dec-2004 13:33:21 UTC
Last Updated On:13-Aug-2017 17:27:08 UTC
Expiration Date:01-Sep-2018 23:59:59 UTC
Sponsoring Registrar:Example (R1-ASIA)
Status:CLIENT TRANSFER PROHIBITED
Registrant Name:zzkanarie
Registrant Street1:zzkanarie
Admin Email:zzkanarie@example.net
Name Server:NS1.EXAMPLE.NET
Name Server:
`, "2004-12-18T13:33:21Z 2017-08-13T17:27:08Z 2018-09-01T23:59:59Z | ns1.example.net | clientTransferProhibited | Example (R1-ASIA)"},
	{"columns", "kranich-47.biz", `Domain Name:                                 KRANICH-47.BIZ
Domain ID:                                   D1-BIZ
Sponsoring Registrar:                        EXAMPLE INC.
Sponsoring Registrar IANA ID:                9999
Registrar URL (registration services):       www.example.net
Domain Status:                               clientHold
Registrant ID:                               zzkanarie
Registrant Name:                             zzkanarie
Billing Contact Name:                        zzkanarie
Name Server:                                 NS1.EXAMPLE.NET
Created by Registrar:                        EXAMPLE INC.
Domain Registration Date:                    Wed Mar 27 00:01:00 GMT 2002
Domain Expiration Date:                      Fri Mar 26 23:59:59 GMT 2010
Domain Last Updated Date:                    Thu Mar 05 12:00:00 GMT 2009
`, "2002-03-27T00:01:00Z 2009-03-05T12:00:00Z 2010-03-26T23:59:59Z | ns1.example.net | clientHold | EXAMPLE INC."},
	{"values on the next line (uk)", "kranich-47.co.uk", `
    Domain name:
        kranich-47.co.uk

    Registrant:
        zzkanarie

    Registrant's address:
        zzkanarie street
        zzkanarie

    Registrar:
        Example Ltd [Tag = EXAMPLE]
        URL: http://www.example.net

    Relevant dates:
        Registered on: 14-Feb-1999
        Expiry date:  14-Feb-2018
        Last updated:  13-Jan-2017

    Registration status:
        Registered until expiry date.

    Name servers:
        ns1.example.net      192.0.2.1
        ns2.example.net

    WHOIS lookup made at 21:25:26 18-Nov-2017
`, "1999-02-14 2017-01-13 2018-02-14 | ns1.example.net ns2.example.net | registered until expiry date | Example Ltd [Tag = EXAMPLE]"},
	{"values on the next line, not further in (ch)", "kranich-47.ch", `
Domain name:
kranich-47.ch

Holder of domain name:
zzkanarie
zzkanarie street

Technical contact:
zzkanarie

Registrar:
Example AG

First registration date:
1999-05-24

DNSSEC:N

Name servers:
ns1.example.net	[192.0.2.1]
ns2.example.net
`, "1999-05-24 - - | ns1.example.net ns2.example.net |  | Example AG"},
	{"blocks without colon (it)", "kranich-47.it", `Domain:             kranich-47.it
Status:             ok
Created:            1999-12-10 00:00:00
Last Update:        2018-05-07 00:54:15
Expire Date:        2019-04-21

Registrant
  Organization:     zzkanarie
  Address:          zzkanarie
  Created:          2001-01-01 19:04:02
  Last Update:      2001-01-01 19:04:02

Admin Contact
  Name:             zzkanarie
  Organization:     zzkanarie
  Created:          2001-01-01 19:04:02

Technical Contacts
  Name:             zzkanarie

Registrar
  Organization:     Example S.p.A.
  Name:             EXAMPLE-REG
  Web:              https://www.example.net

Nameservers
  ns1.example.net
  ns2.example.net
`, "1999-12-10 2018-05-07T00:54:15Z 2019-04-21 | ns1.example.net ns2.example.net | ok | Example S.p.A."},
	{"blocks of the same indentation (ee)", "kranich-47.ee", `Domain:
name:       kranich-47.ee
status:     ok (paid and in zone)
registered: 2010-07-04 04:34:46 +03:00
changed:    2017-10-09 20:10:09 +03:00
expire:     2018-11-09
outzone:
delete:

Registrant:
name:    zzkanarie
email:   zzkanarie@example.net
changed: 2001-06-17 13:14:07 +03:00

Registrar:
name:       Example OÜ
url:        http://www.example.net
phone:      +372 zzkanarie
changed:    2001-01-04 18:23:09 +02:00

Name servers:
nserver:   ns1.example.net
nserver:   ns2.example.net
changed:   2001-11-10 14:15:06 +02:00
`, "2010-07-04T04:34:46+03:00 2017-10-09T20:10:09+03:00 2018-11-09 | ns1.example.net ns2.example.net | ok | Example OÜ"},
	{"dotted keys and headings (fi)", "kranich-47.fi", `domain.............: kranich-47.fi
status.............: Registered
created............: 30.6.2006 00:00:00
expires............: 4.7.2026 10:15:55
available..........: 4.8.2026 10:15:55
modified...........: 2.6.2025 10:33:21
RegistryLock.......: no

Nameservers

nserver............: ns1.example.net [OK]
nserver............: ns2.example.net [OK]

DNSSEC

dnssec.............: no

Holder

name...............: zzkanarie
register number....: zzkanarie
address............: zzkanarie
holder email.......: zzkanarie@example.net

Registrar

registrar..........: Example Oy
www................: www.example.net
`, "2006-06-30 2025-06-02T10:33:21Z 2026-07-04T10:15:55Z | ns1.example.net ns2.example.net | registered | Example Oy"},
	{"objects (cz)", "kranich-47.cz", `domain:       kranich-47.cz
registrant:   ZZKANARIE-1
admin-c:      ZZKANARIE-2
nsset:        NS-1
registrar:    REG-EXAMPLE
registered:   21.07.2000 15:21:00
changed:      18.05.2011 23:28:45
expire:       22.07.2018

contact:      ZZKANARIE-1
org:          zzkanarie
name:         zzkanarie
address:      zzkanarie
registrar:    REG-EXAMPLE
created:      01.01.2001 23:28:26
changed:      01.01.2001 14:07:53

nsset:        NS-1
nserver:      ns1.example.net (192.0.2.1)
nserver:      ns2.example.net
tech-c:       ZZKANARIE-2
registrar:    REG-EXAMPLE
created:      01.01.2001 23:27:16
`, "2000-07-21T15:21:00Z 2011-05-18T23:28:45Z 2018-07-22 | ns1.example.net ns2.example.net |  | REG-EXAMPLE"},
	{"objects (fr)", "kranich-47.fr", `domain:      kranich-47.fr
status:      ACTIVE
hold:        NO
holder-c:    ZZKANARIE-FRNIC
admin-c:     ZZKANARIE-FRNIC
registrar:   EXAMPLE SAS
Expiry Date: 03/12/2017
created:     07/07/2000
last-update: 02/11/2016
source:      FRNIC

ns-list:     NSL1-FRNIC
nserver:     ns1.example.net
source:      FRNIC

registrar:   EXAMPLE SAS
address:     zzkanarie
registered:  10/01/2002

nic-hdl:     ZZKANARIE-FRNIC
contact:     zzkanarie
changed:     20/03/2001 zzkanarie@example.net
`, "2000-07-07 2016-11-02 2017-12-03 | ns1.example.net | active | EXAMPLE SAS"},
	{"objects without registrar (at)", "kranich-47.at", `domain:         kranich-47.at
registrant:     ZZKANARIE-NICAT
tech-c:         ZZKANARIE-NICAT
nserver:        ns1.example.net
remarks:        192.0.2.1
changed:        20110426 17:57:27
source:         AT-DOM

personname:     zzkanarie
organization:   zzkanarie
street address: zzkanarie
changed:        20010111 00:07:31
`, "- 2011-04-26T17:57:27Z - | ns1.example.net |  | "},
	{"brackets as headings (de)", "kranich-47.de", `Domain: kranich-47.de
Nserver: ns1.example.net
Nserver: ns2.kranich-47.de 192.0.2.1 2001:db8::1
Status: connect
Changed: 2011-03-30T19:36:27+02:00

[Tech-C]
Type: PERSON
Name: zzkanarie
Organisation: zzkanarie
Changed: 2001-03-11T00:04:49+01:00

[Zone-C]
Type: PERSON
Name: zzkanarie
Organisation: zzkanarie
`, "- 2011-03-30T19:36:27+02:00 - | ns1.example.net ns2.kranich-47.de | connect | "},
	{"brackets as headings (lv)", "kranich-47.lv", `[Domain]
Domain: kranich-47.lv
Status: active

[Holder]
Type: Legal person
Name: zzkanarie
Phone: zzkanarie

[Registrar]
Type: Legal person
Name: Example SIA
Phone: +371 zzkanarie

[Nservers]
Nserver: ns1.example.net

[Whois]
Updated: 2001-11-18T18:12:31.726496+00:00
`, "- - - | ns1.example.net | active | Example SIA"},
}
