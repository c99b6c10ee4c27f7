package whois

// sampleLists cover the names and forms of fields.
var sampleLists = []sampleRecord{
	{"brackets as fields (jp)", "kranich-47.jp", `[ JPRS database provides information. ]
Domain Information:
[Domain Name]                   KRANICH-47.JP

[Registrant]                    zzkanarie

[Name Server]                   ns1.example.net
[Name Server]                   ns2.example.net
[Signing Key]

[Created on]                    2001/03/26
[Expires on]                    2020/03/31
[Status]                        Active
[Last Updated]                  2019/04/01 01:12:57 (JST)

Contact Information:
[Name]                          zzkanarie
[Email]                         zzkanarie@example.net
[Postal Address]                zzkanarie
                                zzkanarie
`, "2001-03-26 2019-04-01T01:12:57+09:00 2020-03-31 | ns1.example.net ns2.example.net | active | "},
	{"lettered brackets (co.jp)", "kranich-47.co.jp", `Domain Information:
a. [Domain Name]                KRANICH-47.CO.JP
g. [Organization]               zzkanarie
m. [Administrative Contact]     ZZKANARIE
p. [Name Server]                ns1.example.net
[State]                         Connected (2018/03/31)
[Registered Date]               2001/03/22
[Last Update]                   2017/11/07 08:21:16 (JST)
`, "2001-03-22 2017-11-07T08:21:16+09:00 - | ns1.example.net | connected | "},
	{"asterisks (tr)", "kranich-47.com.tr", `** Domain Name: kranich-47.com.tr

** Registrant:
   zzkanarie
   zzkanarie@example.net
   + 1-zzkanarie

** Registrar:
NIC Handle		: exa1-metu
Organization Name	: Example Bilişim A.Ş.
Address			: zzkanarie

** Administrative Contact:
NIC Handle		: zzkanarie
Organization Name	: zzkanarie

** Domain Servers:
ns1.example.net
ns2.example.net 192.0.2.1

** Additional Info:
Created on..............: 2001-Aug-23.
Expires on..............: 2020-Aug-22.
`, "2001-08-23 - 2020-08-22 | ns1.example.net ns2.example.net |  | Example Bilişim A.Ş."},
	{"two languages (kr)", "kranich-47.kr", `query : kranich-47.kr

도메인이름                  : kranich-47.kr
등록인                      : zzkanarie
책임자                      : zzkanarie
등록일                      : 1999. 07. 28.
최근 정보 변경일            : 2010. 10. 04.
사용 종료일                 : 2022. 07. 28.
등록대행자                  : (주)보기(http://example.kr)

1차 네임서버 정보
   호스트이름               : ns1.example.net

Domain Name                 : kranich-47.kr
Registrant                  : zzkanarie
Administrative Contact(AC)  : zzkanarie
AC E-Mail                   : zzkanarie@example.net
Authorized Agency           : Example Corp.(http://example.kr)

Secondary Name Server
   Host Name                : ns2.example.net
`, "1999-07-28 2010-10-04 2022-07-28 | ns1.example.net ns2.example.net |  | Example Corp.(http://example.kr)"},
	{"handles (br)", "kranich-47.com.br", `domain:      kranich-47.com.br
owner:       zzkanarie
ownerid:     zzkanarie
responsible: zzkanarie
owner-c:     ZZKANARIE
nserver:     ns1.example.net
nsstat:      20171116 AA
created:     19990518 #162310
changed:     20170427
expires:     20180518
status:      published

nic-hdl-br:  ZZKANARIE
person:      zzkanarie
e-mail:      zzkanarie@example.net
created:     20010520
changed:     20010103
`, "1999-05-18 2017-04-27 2018-05-18 | ns1.example.net | published | "},
	{"list over several lines (pl)", "kranich-47.pl", `DOMAIN NAME:           kranich-47.pl
registrant type:       organization
nameservers:           ns1.example.net.
                       ns2.example.net. [192.0.2.1]
created:               2002.09.19 13:00:00
last modified:         2017.09.27 01:29:47
renewal date:          2018.09.18 14:00:00

option created:        2001.10.14 09:30:46
option expiration date:       2001.10.14 09:30:46

TECHNICAL CONTACT:
company: zzkanarie
        zzkanarie
street: zzkanarie
last modified: 2001.02.24

REGISTRAR:
Example Sp. z o.o.
zzkanarie 1
zzkanarie@example.net
`, "2002-09-19T13:00:00Z 2017-09-27T01:29:47Z 2018-09-18T14:00:00Z | ns1.example.net ns2.example.net |  | Example Sp. z o.o."},
	{
		"name and status on tabs (be)", "kranich-47.be", "Domain:\tkranich-47.be\nStatus:\tNOT AVAILABLE\nRegistered:\tTue Dec 12 2000\n\nRegistrant:\n\tzzkanarie\n\n" +
			"Registrar Technical Contacts:\n\tName:\tzzkanarie\n\tOrganisation:\tzzkanarie\n\nRegistrar:\n\tName:\t Example NV\n\tWebsite: http://www.example.net\n\n" +
			"Nameservers:\n\tns1.example.net (192.0.2.1)\n\tns2.example.net\n\nKeys:\n\nFlags:\n\tclientTransferProhibited\n",
		"2000-12-12 - - | ns1.example.net ns2.example.net | clientTransferProhibited | Example NV",
	},
	{"blocks (eu)", "kranich-47.eu", `Domain: kranich-47.eu
Script: LATIN

Registrant:
        zzkanarie

Technical:
        Organisation: zzkanarie
        Email: zzkanarie@example.net

Registrar:
        Name: Example GmbH
        Website: http://www.example.net

Name servers:
        ns1.example.net
        ns2.example.net

Please visit www.example.net for more info.
`, "- - - | ns1.example.net ns2.example.net |  | Example GmbH"},
	{"blocks (ca)", "kranich-47.ca", `Domain name:           kranich-47.ca
Domain status:         registered
Creation date:         2000/10/04
Expiry date:           2011/04/28
Updated date:          2010/04/28

Registrar:
    Name:              Example Corp.
    Number:            70

Registrant:
    Name:              zzkanarie

Administrative contact:
    Name:              zzkanarie
    Phone:             zzkanarie

Name servers:
    ns1.example.net
`, "2000-10-04 2010-04-28 2011-04-28 | ns1.example.net | registered | Example Corp."},
	{"blocks (nl)", "kranich-47.nl", `Domain name: kranich-47.nl
Status:      active

Registrar:
   Example B.V.
   zzkanarie 1
   Netherlands

Abuse Contact:
   zzkanarie@example.net

DNSSEC:      no

Domain nameservers:
   ns1.example.net
   ns2.example.net

Record maintained by: zzkanarie
`, "- - - | ns1.example.net ns2.example.net | active | Example B.V."},
	{"paragraph headings (dk)", "kranich-47.dk", `Domain:               kranich-47.dk
DNS:                  kranich-47.dk
Registered:           1999-01-10
Expires:              2018-03-31
Status:               Active

Registrant
Handle:               ZZKANARIE
Name:                 zzkanarie
Address:              zzkanarie

Nameservers
Hostname:             ns1.example.net
Handle:               ZZKANARIE
Hostname:             ns2.example.net
Handle:               ZZKANARIE
`, "1999-01-10 - 2018-03-31 | ns1.example.net ns2.example.net | active | "},
	{"fields (se)", "kranich-47.se", `state:            active
domain:           kranich-47.se
holder:           zzkanarie
admin-c:          zzkanarie
created:          2003-08-27
modified:         2017-09-18
expires:          2018-10-20
transferred:      2009-03-06
nserver:          ns1.example.net 192.0.2.1
dnssec:           unsigned delegation
status:           ok
registrar:        Example AB
`, "2003-08-27 2017-09-18 2018-10-20 | ns1.example.net | active, ok | Example AB"},
	{"sentences (tw)", "kranich-47.com.tw", `Domain Name: kranich-47.com.tw
   Domain Status: clientUpdateProhibited,clientTransferProhibited
   Registrant:
      zzkanarie
      zzkanarie  zzkanarie@example.net
      +1.zzkanarie

   Administrative Contact:
      zzkanarie  zzkanarie@example.net

   Record expires on 2018-11-09 (YYYY-MM-DD)
   Record created on 2000-08-29 01:46:06 (UTC+8)

   Domain servers in listed order:
      ns1.example.net      192.0.2.1
      ns2.example.net

Registration Service Provider: Example, Inc.
`, "2000-08-29T01:46:06+08:00 - 2018-11-09 | ns1.example.net ns2.example.net | clientUpdateProhibited, clientTransferProhibited | Example, Inc."},
	{"long keys (hk)", "kranich-47.com.hk", `Domain Name:  KRANICH-47.COM.HK

Domain Status: Active

Registrar Name: EXAMPLE LIMITED

Registrar Contact Information: Email: zzkanarie@example.net

Registrant Contact Information:

Company English Name (It should be the same as the registered/corporation name on your certificate): zzkanarie
Address: zzkanarie
Domain Name Commencement Date: 04-07-2001
Country: HK
Expiry Date: 03-11-2018

Administrative Contact Information:

Given name: zzkanarie
Family name: zzkanarie

Name Servers Information:

NS1.EXAMPLE.NET
NS2.EXAMPLE.NET

`, "2001-07-04 - 2018-11-03 | ns1.example.net ns2.example.net | active | EXAMPLE LIMITED"},
	{"numbered fields (nc)", "kranich-47.nc", `Domain                   : kranich-47.nc
Created on               : 2010-01-02
Expires on               : 2020-01-03
Last updated on          : 2015-01-04

Domain server 1          : ns1.example.net
Domain server 2          : ns2.example.net 192.0.2.1

Registrar                : Example SARL

Registrant name          : zzkanarie
Registrant address 1     : zzkanarie
`, "2010-01-02 2015-01-04 2020-01-03 | ns1.example.net ns2.example.net |  | Example SARL"},
	{"numbered fields (nz)", "kranich-47.co.nz", `query_status: 200 Active
domain_name: kranich-47.co.nz
domain_dateregistered: 1999-02-17T00:00:00+13:00
domain_datebilleduntil: 2018-02-17T00:00:00+13:00
domain_datelastmodified: 2017-01-17T01:02:03+13:00
registrar_name: Example Ltd
registrar_phone: zzkanarie
registrant_contact_name: zzkanarie
admin_contact_email: zzkanarie@example.net
ns_name_01: ns1.example.net
ns_name_02: ns2.example.net
`, "1999-02-17T00:00:00+13:00 2017-01-17T01:02:03+13:00 2018-02-17T00:00:00+13:00 | ns1.example.net ns2.example.net | 200 active | Example Ltd"},
	{"Spanish (ve)", "kranich-47.co.ve", `Titular:
zzkanarie 		zzkanarie@example.net
   zzkanarie

   Nombre de Dominio: kranich-47.co.ve

   Contacto Administrativo:
      zzkanarie 		zzkanarie@example.net

   Fecha de Vencimiento: 2018-03-06 00:00:00
   Ultima Actualización: 2005-11-17 20:35:01
   Fecha de Creación: 2003-03-06 00:00:00

   Estatus del dominio: ACTIVO

   Servidor(es) de Nombres de Dominio:

   - ns1.example.net
   - ns2.example.net

NIC-Ejemplo
`, "2003-03-06 2005-11-17T20:35:01Z 2018-03-06 | ns1.example.net ns2.example.net | activo | "},
	{"two languages in a key (pt)", "kranich-47.pt", `Nome de domínio / Domain Name: kranich-47.pt
Data de registo / Creation Date (dd/mm/yyyy): 09/01/2003
Data de expiração / Expiration Date (dd/mm/yyyy): 08/02/2018
Estado / Status: ACTIVE

Titular / Registrant
  zzkanarie
  zzkanarie
  Email: zzkanarie@example.net

Entidade Gestora / Managing Entity
  Example Lda
  Email: zzkanarie@example.net

Nameserver Information
  Nameserver: ns1.example.net NS ns1.example.net.
`, "2003-01-09 - 2018-02-08 | ns1.example.net | active | Example Lda"},
	{"two languages in a key (cl)", "kranich-47.cl", `kranich-47.cl:
Contacto Administrativo (Administrative Contact):
    Nombre      : zzkanarie
    Organización: zzkanarie

Servidores de nombre (Domain servers):
    ns1.example.net
    ns2.example.net

Fecha de expiración (Expiration date): 2018-11-20 14:48:02 CLT

Agente Registrador (Registrar):
    Example SpA
`, "- - 2018-11-20T14:48:02-04:00 | ns1.example.net ns2.example.net |  | Example SpA"},
	{"French (sn)", "kranich-47.sn", `Domain ID:1195
Nom de domaine:KRANICH-47
Date de creation:22-Mar-2003 00:00:00 UTC
Derniere modification:16-Dec-2016 11:20:27 UTC
Date d'expiration:31-Dec-2017 00:00:00 UTC
Registrar:Exemple
Etat:actif
=====================================
Nom Registrant:zzkanarie
Courriel Registrant.:zzkanarie@example.net
=====================================
Nom Contact Admin:zzkanarie
=====================================
Serveur1 :ns1.example.net
Serveur2 :ns2.example.net
Serveur4 :
`, "2003-03-22 2016-12-16T11:20:27Z 2017-12-31 | ns1.example.net ns2.example.net | actif | Exemple"},
	{"Russian states (ru)", "kranich-47.ru", `domain:        KRANICH-47.RU
nserver:       ns1.example.net.
nserver:       ns2.kranich-47.ru. 192.0.2.1
state:         REGISTERED, DELEGATED, VERIFIED
person:        zzkanarie
org:           zzkanarie
registrar:     EXAMPLE-RU
admin-contact: zzkanarie
created:       2010-08-23T10:32:37Z
paid-till:     2018-08-23T11:32:37Z
free-date:     2018-09-23
source:        TCI

Last updated on 2001-11-05T18:16:31Z
`, "2010-08-23T10:32:37Z - 2018-08-23T11:32:37Z | ns1.example.net ns2.kranich-47.ru | registered, delegated, verified | EXAMPLE-RU"},
	{"lettered fields (my)", "kranich-47.my", `a [Domain Name]              kranich-47.my
b [Registration No.]         D1
c [Record Created]           05-JAN-2003
d [Record Expired]           05-JAN-2011
e [Record Last Modified]     06-JAN-2009
g [Registrant Code]          ZZKANARIE
     zzkanarie
     (Email) zzkanarie@example.net
l [Primary Name Server]      ns1.example.net
m [Secondary Name Server]    ns2.example.net
`, "2003-01-05 2009-01-06 2011-01-05 | ns1.example.net ns2.example.net |  | "},
	{"no colons (md)", "kranich-47.md", `Domain name    kranich-47.md
Domain state   OK
Registrant     zzkanarie
Registered on  2006-05-09
Expires on     2018-05-09
Nameserver     ns1.example.net
Nameserver     ns2.example.net
`, "2006-05-09 - 2018-05-09 | ns1.example.net ns2.example.net | ok | "},
	{"label and nameserver (to)", "kranich-47.to", `Some whoisd V1.1
# zzkanarie
kranich-47 ns1.example.net
kranich-47 ns2.example.net
`, "- - - | ns1.example.net ns2.example.net |  | "},
}
