package whois

import (
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// freeSentences are "no record" messages of real servers. NAME is the queried name,
// LABEL its first label.
var freeSentences = []string{
	"NOT FOUND", "Not found.", "Domain not found.", "DOMAIN NOT FOUND", "No Data Found", "No data found", "No Object Found", "NO OBJECT FOUND!", "No Objects Found", "% No Objects Found",
	"No match for \"NAME\".", "No match for domain \"NAME\"", "NO MATCH: NAME", "No match", "No match!!", "No match.", "no matching record.", "No matching objects found", "% No match", "NAME No Match",
	"%ERROR:101: no entries found", "%% No entries found in the AFNIC Database.", "% No entries found for the selected source(s).", "No entries found for the selected source.", "% No entries found for query \"NAME\".", "No entries found in the .nc database",
	"%ERROR:103: Domain is not registered", "ERROR: No entries found", "Not Registered", "% Not Registered - The domain you have requested is not a registered .ie domain name.", "Domain NAME is not registered.",
	"Status: free", "Status: AVAILABLE", "Domain Status: Available", "Status: Not Registered", "Domain Status: No Object Found", "query_status: 220 Available", "Domain status: available",
	"NAME is free", "Domain NAME is available for purchase", "NAME is available for registration", "This domain is available for registration.", "Available", "FREE",
	"The domain NAME was not found!", "The domain NAME was not found.", "The domain has not been registered.", "This domain name has not been registered.", "Domain NAME not found", "domain \"NAME\" not found.", "% Object \"NAME\" NOT FOUND.",
	"Domain name NAME does not exist in database!", "Domain Name [NAME] does not exist in database", "Object does not exist", "The queried object does not exist: Domain name is available", "NAME: no existe", "NAME does not exist",
	"Above domain name is not registered to KRNIC.", "The requested domain was not found in the Registry or Registrar's WHOIS Server.", "*** Nothing found for this query.", "% nothing found", "Nothing found",
	"Sorry, but domain: \"NAME\", not found in database", "No such domain", "% No such domain", "No Found", "Domain unknown", "Invalid query or domain name not known in Dot TK Domain Registry", "Domain name not known",
	"We do not have an entry in our database matching your query.", "% No data was found to match the request criteria.", "No information available about domain name NAME in the Registry NASK database.", "There is no information available on the domain consulted.",
	"No domain records were found to match \"NAME\".", "Data not found. This domain is available for registration.", "El dominio no se encuentra registrado en NIC Argentina", "No_Se_Encontro_El_Objeto/Object_Not_Found", "Nincs talalat / No match", "Not found: NAME",
	"This query returned 0 objects.", "This Domain is not available in our whois database", "No records matching NAME found.", "No information was found matching that query.", "Domain is not registered", "No match found for \"NAME\"", "The domain NAME is not registered",
	"No results found", "The requested domain name is not registered", "Domain name is not registered", "This domain is not registered", "Domain Not Registered", "No domain found", "Nenalezeno", "Domena nie znaleziono",
	"Domene NAME was not found", "Object not found", "Domain is free", "Domain is available", "No entries found.", "Domain NAME does not exist", "The domain name is available", "the domain you requested is not known in our whois database",
	// By country, where none of the above applies.
	"%% NOT FOUND", "% No entries found for domain NAME", "Domain (NAME) is not registered", "No Match for NAME\n.", "Domain not found: NAME", "The domain name NAME is not registered", "NAME - No Match", "No match found", "% No match for \"NAME\".",
	"Domain NAME is available for registration", "Domain \"NAME\" is available", "NAME is available", "NAME: available", "NAME - not registered", "Domain NAME - Not Registered", "NAME not found", "Domain name NAME not found", "ERROR: Domain not found",
	"NAME: no entries found.", "El dominio no está registrado", "El dominio NAME no se encuentra registrado", "Dominio no encontrado", "No se encontraron registros", "No se encontró el dominio NAME en la base de datos", "Dominio NAME disponible", "No existe",
	"Não encontrado", "Domínio não registrado", "O domínio NAME não existe", "Nenhum registro encontrado", "Domínio NAME inexistente",
	"Le domaine NAME n'existe pas", "Aucun enregistrement trouvé", "Aucun objet trouvé pour NAME", "Domaine inconnu", "Le nom de domaine est introuvable", "Domaine NAME disponible",
	"Домен не зарегистрирован", "Домен NAME не найден", "Домен NAME свободен", "По запросу ничего не найдено", "Записей не найдено", "Домен не знайдено", "Домен NAME не зареєстровано", "% Не найдено",
	"Domena NAME nie istnieje", "Domena nie jest zarejestrowana", "NAME nebyla nalezena", "NAME bulunamadı", "NAME ei löytynyt", "Domein NAME niet gevonden", "NAME is vrij", "Domain NAME ist frei", "Domain NAME ist nicht registriert", "Keine Einträge gefunden", "NAME hittades inte",
	"상기 도메인이름은 등록되어 있지 않습니다.", "域名 NAME 未注册", "您查询的域名不存在", "網域名稱 NAME 未註冊", "指定されたドメイン名は登録されていません", "該当するデータがありません。",
	"Domain Status: Available for registration", "Status: Available for registration", "Domain Status: free", "Available: yes", "Registration status: available", "Status: Object not found", "state: FREE",
	"The queried object does not exist", "The queried object does not exist: NAME", "The queried object does not exist: no matching objects found", "The queried object does not exist: Domain NAME not found", "The queried object does not exist: previous registration D1-EX was purged on 2020-01-02T03:04:05.0Z (DOMAIN NOT FOUND)",
	"the Domain Name is not found", "The requested domain NAME was not found in our database", "Domain NAME could not be found", "Your query did not match any records.", "Your search returned no results", "0 objects found", "No record found for NAME", "No records found", "No record of NAME in the registry",
	"There is no record for NAME", "There are no records matching your query", "There were no matches for NAME in our database.", "We found no match for NAME", "We could not find any record for NAME", "We do not have any information about the domain NAME", "No information on NAME", "No data for domain NAME", "No information found for NAME",
	"No such domain NAME", "No such object", "No such domain in the database", "There is no such domain in the national registry", "The domain NAME is not yet registered", "NAME is not currently registered", "This domain has not yet been registered", "The domain NAME has not been registered yet.",
	"Domain is not registered in the .mt registry", "NAME is unregistered", "NAME is available to register", "The domain name NAME is available for purchase.", "This domain is available for registration, please visit:", "NO MATCH", "LABELNOT FOUND", "No match for LABEL", "Sorry, but the domain was not found.", "No results for your query", "No match in the DENIC database", "The domain was not found in our system",
}

func TestClassify_KnownFreePhrases(t *testing.T) {
	t.Parallel()
	for _, sentence := range freeSentences {
		for _, around := range []string{"SENTENCE\n", "% Some registry\n% Terms of use: see our site.\n\nSENTENCE\r\n\r\n", "Some Whois Server v1\n\nSENTENCE\n\n>>> Last update of WHOIS database: 2024-01-01T00:00:00Z <<<\n"} {
			answer := strings.NewReplacer("NAME", "kranich-47.xyz", "LABEL", "kranich-47").Replace(strings.Replace(around, "SENTENCE", sentence, 1))
			if got, code := classify([]byte(answer), "kranich-47.xyz"); got.State != lookup.Free {
				t.Errorf("%q: state %d, fault %q", answer, got.State, code)
			}
		}
		// The same inside a record does not count.
		record := "Domain Name: kranich-47.xyz\nRegistrar: Example\nCreation Date: 2020-01-01\n" + strings.ReplaceAll(sentence, "NAME", "kranich-47.xyz") + "\n"
		if got, _ := classify([]byte(record), "kranich-47.xyz"); got.State == lookup.Free {
			t.Errorf("%q inside a record is called free", sentence)
		}
		// Nor does it count for another name.
		if !strings.Contains(sentence, "NAME") {
			continue
		}
		other := strings.ReplaceAll(sentence, "NAME", "anderer.xyz")
		if got, _ := classify([]byte(other), "kranich-47.xyz"); got.State == lookup.Free {
			t.Errorf("%q is called free", other)
		}
	}
}

// Sentences that only resemble a free phrase.
func TestClassify_SimilarPhrasesAreNotFree(t *testing.T) {
	t.Parallel()
	for _, sentence := range []string{
		"Domain NAME is not available", "NAME is not free", "This domain name is not available for registration", "NAME is reserved", "The domain is registered", "Domain NAME is already registered",
		"No whois server is known for this kind of object.", "This TLD has no whois server", "Invalid domain name", "Invalid query", "Malformed request", "Syntax error", "Domain name is invalid",
		"The domain NAME is not valid!", "Server not found", "Database not available", "Service not available", "Access denied", "Unknown command", "Host not found", "File not found", "404 Not Found nginx",
		"Registrar not found", "Contact not found", "Nameserver not found", "No registrar found", "Your IP is not registered", "You are not registered", "IP address not registered to use this service", "User not found",
		"Domain is not managed by this register", "Domain is out of registry", "No whois information is available without a contract", "Not authorized", "No access", "Not allowed", "No permission", "Timeout", "No answer",
		"Domain blocked", "Status: invalid", "Status: unknown", "Domain: NAME", "No more queries are allowed today", "No connection to database", "Error: database not found", "Name is not allowed", "no quota left",
	} {
		answer := strings.ReplaceAll(sentence, "NAME", "kranich-47.xyz") + "\n"
		if got, code := classify([]byte(answer), "kranich-47.xyz"); got.State == lookup.Free {
			t.Errorf("%q is called free (%q)", answer, code)
		}
	}
}
