package whois

import (
	"slices"
	"strings"
)

// category groups the names of record fields. A record has fields of several
// categories; a sentence that looks like a field has at most one.
type category uint8

const (
	catNone category = iota
	// catRegistrar is a field or heading that names the registrar. catAgent is
	// other data of the registrar: address, phone or web page.
	catRegistrar
	catRegistrarHandle
	catAgent
	// catHolder and catContact are personal data, which is never read.
	catHolder
	catContact
	// catPerson proves no record, since servers print their own address, too.
	catPerson
	catService // about the server or a web page
	catCreated
	catExpires
	// catUpdated proves less: some servers use it to date the response itself.
	catUpdated
	catServer
	catSigning // about DNSSEC, next to nameservers
	catHandle
	catStatus
	catDomain
	catAvailable
)

// fields is matched against the whole key. Keys are normalised by normaliseKey:
// lower case, one space between words, without accents and parentheses.
var fields = fieldTable(map[category]string{
	catRegistrar: `registrar|sponsoring registrar|sponsoring registrar organization|sponsoring registrar organisation|sponsoring registrar name|sponsoring registrar company|registrar name|name registrar|registrar organization|registrar organisation|registrar company|registrar company name|current registrar|current registar|registration service provider|` +
		`authorized agency|authorised agency|agente registrador|registered through|registered via|registration provider|registrador|entidad registradora|` +
		`bureau d enregistrement|registraire|nom registrar|nom du registrar|registrar nic name|managing entity|entidade gestora|registration agent|accredited registrar|domain registrar|` +
		`registrar info|registrar information|registrar details|registrar data|registrar of record|responsible registrar|registering agent|registrar del dominio|` +
		`регистратор|реєстратор|注册商|注册服务机构|受理註冊機構|등록대행자|등록대행사|registrar agency name|registrierungsstelle`,
	catRegistrarHandle: `registrar id|sponsoring registrar id|sponsoring registrar iana id|registrar handle|registrar nic handle|registrar code|registrar tag|created by registrar|registrar created|registar created|last updated by registrar`,
	// These may name the registrant, so their values are not read.
	catAgent: `reseller|registered by|registrado por|registro por|tech registrar|registrar technical contacts|registrar contact|registrar contacts|registrar contact information|registrar address|registrar whois|` +
		`registrar technical contact|registration service url|registrar url|registrar phone|registrar country`,
	catHolder: `registrant|registrants|holder|owner|domain holder|holder c|titular|titulaire|organization|organisation|org|organization using domain name|organisation using domain name|descr|person|person name|personname|holder name|holder of domain name|` +
		`registered for|registrant type|owner contact|owner name|dom public|domain managers|owner c|ownerid|responsible|등록인|first name|last name|organizacion|nombre|organization name|organisation name|` +
		`domain owner|domain holder organization|registrant information|registrant data|registrant info|registrant details|owner information|holder information|domain holder information|registrant contact|registrant contact information|` +
		`titular del dominio|proprietario|proprietaire|inhaber|domaininhaber|innehavare|haltija|abonat|vlasnik|korisnik|vlastnik|drzitel|владелец|администратор|注册人|註冊人|所有者|registrant organization|` +
		`local organisation|local name|registrant address|responsavel|contacts|contact information|public contact|公開連絡窓口|registrant s address|name holder|legal name`,
	catContact: `admin c|tech c|zone c|billing c|admin contact|tech contact|administrative contact|technical contact|billing contact|contact|admin|nic hdl|nic hdl br|nichandle|nic handle|contacto administrativo|contacto tecnico|` +
		`mntnr|mnt by|technical contacts|administrative contacts|admin contacts|tech contacts|billing contacts|email|e mail|e mailbox|phone|phone number|책임자|관리자|contacto de cobranza|contacto financiero|contacto de facturacion|` +
		`administrative contact agent|technical contact agent|administrative contact information|technical contact information|abuse contact|zone contact|contact administratif|contact technique|contact facturation|` +
		`contato administrativo|contato tecnico|administrativni kontakt|technicky kontakt|tehnicki kontakt|onsite contact|onsite contacts|administrative s|technical s`,
	catCreated: `created|created on|created at|creation date|creation time|created date|date created|record created|record created on|create date|create time|created time|registered|registered on|registered at|registered date|registered since|registration date|registration time|date registered|` +
		`domain registered|domain registration date|registered from|activated on|activation date|activated|activation|commencement date|domain name commencement date|domain record activated|domain created|domain create date|domain creation date|first registration date|` +
		`domain dateregistered|entry created|date of registration|date of creation|registry create date|original created date|registrar creation date|relevant dates registered|` +
		`등록일|date de creation|date creation|cree le|date d enregistrement|fecha de creacion|fecha de registro|fecha registro|fecha creacion|fecha de alta|creado|registrado|data de registo|data registo|data de registro|criado|criado em|` +
		`data di registrazione|data creazione|registriert am|erstellt|angelegt|skapad|opprettet|oprettet|rejestracja|utworzono|data utworzenia|registrace|vytvoreno|registrovana|datum registracije|registruotas|registracijos data|kayit tarihi|olusturulma tarihi|` +
		`創建日期|注册日期|注册时间|註冊日期|登録年月日|дата регистрации|создан|зарегистрирован|дата реєстрації|thời điểm đăng ký|issue date`,
	catExpires: `expires|expires on|expires at|expiry|expiry date|expire date|expiration date|expiration time|expiration|expire time|expiry time|expiring on|registry expiry date|registrar registration expiration date|expire|expired|expire on|paid till|paid until|payed till|renewal date|renewal|renew date|renewed until|` +
		`validity|valid until|valid till|valid to|valid date|valid thru|fecha de expiracion|fecha de vencimiento|fecha expiracion|fecha vencimiento|fecha de caducidad|vencimiento|vence|domain expires|domain expires on|domain expiration date|domain expiration|domain expiry date|domain expiry|domain expire date|record expires on|record expires|` +
		`expiration on|domain name expiration date|next due|next renewal date|registration expiration date|registration expires|registered until|registered till|date of expiration|date of expiry|domain datebilleduntil|exp date|expdate|registrar expiration date|` +
		`사용 종료일|만료일|date d expiration|date expiration|expire le|data de expiracao|data expiracao|validade|expira|expira em|data di scadenza|scadenza|lauft ab am|ablaufdatum|gultig bis|utgar|udlober|utloper|data wygasniecia|wygasa|expirace|platnost do|datum isteka|galioja iki|galiojimo pabaiga|bitis tarihi|` +
		`过期时间|过期日期|到期日期|到期时间|有効期限|оплачен до|истекает|дата окончания|дата закінчення|thời điểm hết hạn`,
	catUpdated: `updated|updated date|updated on|updated at|last updated|last updated on|last updated at|last modified|last modified on|last modified date|last update|last update on|last updated date|last update date|last update time|lastmod|modified|modified on|modified date|changed|changed on|changed date|last changed|last changed date|last change|last edited on|` +
		`modification date|update date|update time|date modified|date updated|domain datelastmodified|domain last updated date|domain last updated|domain last modified|domain modified|domain modification date|domain update date|domain record last updated|record last updated on|record last updated|record last modified|record updated|record changed|record modified|entry updated|` +
		`최근 정보 변경일|state date|derniere modification|date de modification|modifie le|date modification|ultima actualizacion|fecha de actualizacion|fecha de modificacion|fecha de ultima modificacion|fecha modificacion|ultima modificacion|data de alteracao|alterado|modificado|data ultima modifica|ultimo aggiornamento|` +
		`geandert|letzte anderung|andrad|sidst opdateret|sist endret|ostatnia modyfikacja|zmeneno|datum izmene|最終更新|更新时间|更新日期|дата изменения|изменен`,
	catServer: `name server|name servers|nameserver|nameservers|nserver|nservers|name server information|name servers information|nameserver information|dns|dns server|dns servers|domain servers|domain server|domain servers in listed order|domain nameservers|domain nameserver|host name|hostname|hostnames|ns|nameserver in listed order|` +
		`nameservers in listed order|name servers in listed order|name servers in the listed order|nameservers in the listed order|domain name servers|domain name server|domain name servers in listed order|primary server|secondary server|primary nameserver|secondary nameserver|primary name server|secondary name server|tertiary name server|primary dns|secondary dns|primary host name|secondary host name|primary ns|secondary ns|` +
		`servidores de nombre|servidores de nombres|servidor dns|servidores dns|servidor de nombres|servidor es de nombres de dominio|servidor es de nombre|servidor de dominio|servidor de nombre|serveurs de noms|serveur de noms|serveur dns|serveurs dns|serveur de nom|nom du serveur|servidor dns nome|servidores de nomes|1차 네임서버 정보|2차 네임서버 정보|네임서버 이름|호스트이름|` +
		`ns list|ns name|domain dns|dns information|dns info|dns name servers|dns hosts|dns name server|authoritative nameservers|authoritative name servers|delegated nameservers|nameserver list|nameservers list|list of nameservers|list of name servers|namensserver|namnservrar|navneservere|navneserver|nimipalvelimet|serwery nazw|jmenne servery|menni serveri|dns serveri|dns sunucular|alan adi sunuculari|` +
		`ネームサーバ|域名服务器|dns服务器|名称服务器|ns 1|ns 2|ns1|ns2|ns3|ns4|ns5|ns6|dns1|dns2|dns3|dns4|dns5|dns6|nameserver 1|nameserver 2|серверы имен|máy chủ dns chuyển giao|nserver list|zone servers|servidor de nombres de dominio|servidores de nombres de dominio|serveur|domain server|servidor`,
	catSigning: `dnssec|ds rdata|keyset|nsset|ns set|dnskey|dnssec ds records|dns signing|signing key|keys|ds record|ds records`,
	catPerson: `nom|name|role|address|adress|street|street address|company|company name|org name|fax|fax no|mail|postal address|abuse|dns operator|technical|administrative|onsite|on site|kontakt|tech|administrator|billing|` +
		`city|state province|postal code|zip|zipcode|country|telephone|tel|domain owners|domain owners registrant|legal person|remarks|notes|id number|tax id|vat|contact id|personal data|public contacts|given name|family name|company english name|company chinese name`,
	catService:   `whois|whois server|website|web site|url|www|web|referral url|web page|more information|managed by|source|refer`,
	catHandle:    `registry domain id|domain id|roid|domain handle|norid handle|authoritative dns|registry registrant id|eppid|repository id`,
	catStatus:    `status|domain status|state|domaintype|domain type|query status|registration status|eppstatus|epp status|estado|statut|status codes|domain state|domain name status|estatus del dominio|estado del dominio|etat|etat du domaine|flags|stav|stanje|durum|状态|域名状态|状態|состояние|статус|domain statuses|registry status|status code`,
	catDomain:    `domain|domain name|domainname|domain ace|complete domain name|dominio|nom de domaine|nombre de dominio|nombre del dominio|nome de dominio|nome do dominio|도메인이름|ascii|idn domain name|domain name ace|domain idn|ドメイン名|域名|домен|domena|domene|alan adi|nazwa domeny|domain name information|query|domain information`,
	catAvailable: `available|availability|is available`,
})

// wordGroup gives words, prefixes or stems a category; the first group counts.
type wordGroup struct {
	cat   category
	words []string
}

// prefixes determines the category of keys that are in no table.
var prefixes = []wordGroup{
	{catAgent, []string{"registrar ", "sponsoring registrar ", "reseller "}},
	{catHolder, []string{"registrant ", "registrants ", "owner ", "holder ", "org "}},
	{catContact, []string{"admin ", "adm ", "administrative ", "tech ", "tec ", "technical ", "billing ", "bill ", "abuse ", "contact ", "contacto "}},
	{catServer, []string{"name server", "nameserver", "ns ", "ns name ", "dns server", "dns name", "host name", "hostname", "nserver"}},
	{catSigning, []string{"dns", "ds "}},
}

func fieldTable(groups map[category]string) map[string]category {
	table := make(map[string]category)
	for cat, keys := range groups {
		for key := range strings.SplitSeq(keys, "|") {
			if key != "" {
				table[key] = cat
			}
		}
	}
	return table
}

// lookUpKey normalises a lower-case key and finds it in the table, also in two
// languages: "titular / registrant" or "titular (registrant)".
func lookUpKey(key string) (whole string, cat category, found bool) {
	whole = normaliseKey(key)
	if cat, found = fields[whole]; found {
		return whole, cat, true
	}
	if open := strings.IndexByte(key, '('); open > 0 {
		inner, _, _ := strings.Cut(key[open+1:], ")")
		if cat, found = fields[normaliseKey(inner)]; found {
			return whole, cat, true
		}
	}
	if strings.Contains(key, "/") {
		for part := range strings.SplitSeq(key, "/") {
			if cat, found = fields[normaliseKey(part)]; found {
				return whole, cat, true
			}
		}
	}
	return whole, catNone, false
}

func readKey(key string) (string, category) {
	whole, cat, found := lookUpKey(strings.ToLower(key))
	if found {
		return whole, cat
	}
	// "DNS servers1", "Nameserver 2"
	if plain := strings.TrimRight(whole, " 0123456789"); plain != whole && fields[plain] == catServer {
		return whole, catServer
	}
	if len(whole) >= 40 {
		return whole, catNone
	}
	for _, group := range prefixes {
		if slices.ContainsFunc(group.words, func(prefix string) bool { return strings.HasPrefix(whole, prefix) }) {
			return whole, group.cat
		}
	}
	return whole, catNone
}

// headingOf returns the category of a heading without a colon: "Registrant", alone.
func headingOf(body string) category {
	if len(body) > maxKeyBytes || strings.ContainsAny(body, "@,;") {
		return catNone
	}
	_, cat, _ := lookUpKey(strings.TrimRight(strings.ToLower(body), " ."))
	return cat
}

var accentStripper = strings.NewReplacer("á", "a", "à", "a", "â", "a", "ã", "a", "ä", "a", "å", "a", "é", "e", "è", "e", "ê", "e", "ë", "e", "ě", "e", "ę", "e",
	"í", "i", "î", "i", "ı", "i", "ó", "o", "ô", "o", "õ", "o", "ö", "o", "ø", "o", "ú", "u", "ü", "u", "ů", "u", "ç", "c", "č", "c", "ć", "c", "ñ", "n", "ń", "n", "ň", "n",
	"ş", "s", "š", "s", "ś", "s", "ğ", "g", "ž", "z", "ż", "z", "ý", "y", "ř", "r", "ł", "l", "ď", "d", "ť", "t")

// normaliseKey expects lower case.
func normaliseKey(key string) string {
	if !isASCII(key) {
		key = accentStripper.Replace(key)
	}
	out := make([]byte, 0, len(key))
	depth := 0
	for i := range len(key) {
		c := key[i]
		switch c {
		case '(':
			depth++
			continue
		case ')':
			depth = max(0, depth-1)
			continue
		case ' ', '\t', '.', '_', '-', '/', '\'', '&', '*', '#':
			c = ' '
		}
		if depth > 0 || c == ' ' && (len(out) == 0 || out[len(out)-1] == ' ') {
			continue
		}
		out = append(out, c)
	}
	return strings.TrimRight(string(out), " ")
}

// Word stems of date fields that are in no table. Their value must be a date.
var (
	dateKeyStems = []wordGroup{
		{catExpires, []string{"expir", "valid"}},
		{catUpdated, []string{"updat", "modif", "chang"}},
		{catCreated, []string{"creat", "regist", "activat"}},
	}
	// nonDateKeyStems mark dates of something other than the name.
	nonDateKeyStems = []string{
		"whois", "database", "option", "dnssec", "nsset", "ds ", "key", "transfer", "delet", "query", "request",
		"registrant", "holder", "owner", "admin", "tech", "contact", "person", "zone", "status", "verif", "validat", "check", "suspen",
	}
)

func guessDate(key, value string, order dateOrder) category {
	group := slices.IndexFunc(dateKeyStems, func(g wordGroup) bool { return hasAny(key, g.words) })
	if group < 0 || len(key) > 40 || hasAny(key, nonDateKeyStems) {
		return catNone
	}
	if _, ok := parseDate(value, order); !ok {
		return catNone
	}
	return dateKeyStems[group].cat
}
