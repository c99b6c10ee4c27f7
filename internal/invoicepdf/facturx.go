package invoicepdf

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// attachmentName is the name that Factur-X requires for the XML in a PDF.
const attachmentName = "factur-x.xml"

// The library embeds a file without its relationship to the document, which readers of
// electronic invoices require (ISO 32000-2, 14.13). So three of its objects are replaced by
// an incremental update: the last version of an object counts (ISO 32000-1, 7.5.6).

var (
	trailerPattern      = regexp.MustCompile(`trailer\n<<\n/Size (\d+)\n/Root (\d+) 0 R\n/Info (\d+) 0 R\n>>\nstartxref\n(\d+)\n%%EOF\s*$`)
	filespecPattern     = regexp.MustCompile(`\n(\d+) 0 obj\n<< /Type /Filespec `)
	embeddedFilePattern = regexp.MustCompile(`\n(\d+) 0 obj\n<< /Type /EmbeddedFile `)
)

var errUnexpectedStructure = errors.New("invoicepdf: unexpected PDF structure")

// linkFacturX declares the attachment an alternative representation of the pages.
func linkFacturX(pdf []byte, modified time.Time) ([]byte, error) {
	end := trailerPattern.FindSubmatch(pdf)
	spec := filespecPattern.FindSubmatch(pdf)
	file := embeddedFilePattern.FindSubmatch(pdf)
	if end == nil || spec == nil || file == nil {
		return nil, errUnexpectedStructure
	}
	size, root, info, prevXref := string(end[1]), string(end[2]), string(end[3]), string(end[4])
	catalog, found := objectBody(pdf, root)
	stream, foundFile := objectBody(pdf, string(file[1]))
	if !found || !foundFile {
		return nil, errUnexpectedStructure
	}
	catalog = strings.Replace(catalog, "<<", "<<\n/Version /1.7\n/AF ["+string(spec[1])+" 0 R]", 1)
	catalog = strings.Replace(catalog, "(Attachement1)", "("+attachmentName+")", 1)
	stamp := "/ModDate (D:" + modified.UTC().Format("20060102150405") + "Z) "
	stream = strings.Replace(stream, "/Type /EmbeddedFile ", "/Type /EmbeddedFile /Subtype /text#2Fxml ", 1)
	stream = strings.Replace(stream, "/Params << ", "/Params << "+stamp, 1)
	updated := map[string]string{
		root: catalog, string(file[1]): stream,
		string(spec[1]): fmt.Sprintf("<< /Type /Filespec /F (%[1]s) /UF (%[1]s) /AFRelationship /Alternative /Desc (Factur-X/ZUGFeRD, EN 16931) /EF << /F %[2]s 0 R /UF %[2]s 0 R >> >>",
			attachmentName, file[1]),
	}
	out := bytes.NewBuffer(slices.Clip(pdf))
	if !bytes.HasSuffix(pdf, []byte("\n")) {
		out.WriteByte('\n')
	}
	var table strings.Builder
	byNumber := func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }
	for _, number := range slices.SortedFunc(maps.Keys(updated), byNumber) {
		fmt.Fprintf(&table, "%s 1\n%010d 00000 n \n", number, out.Len())
		fmt.Fprintf(out, "%s 0 obj\n%s\nendobj\n", number, strings.TrimSpace(updated[number]))
	}
	id := fmt.Sprintf("%x", sha256.Sum256(pdf))[:32]
	fmt.Fprintf(out, "xref\n%strailer\n<<\n/Size %s\n/Root %s 0 R\n/Info %s 0 R\n/Prev %s\n/ID [<%s> <%s>]\n>>\nstartxref\n%d\n%%%%EOF\n",
		table.String(), size, root, info, prevXref, id, id, out.Len())
	return out.Bytes(), nil
}

func objectBody(pdf []byte, number string) (string, bool) {
	_, rest, found := bytes.Cut(pdf, []byte("\n"+number+" 0 obj\n"))
	if !found {
		return "", false
	}
	body, _, found := bytes.Cut(rest, []byte("\nendobj"))
	return string(body), found
}

func xmpMetadata(title, author string, at time.Time) []byte {
	stamp := at.UTC().Format(time.RFC3339)
	return fmt.Appendf(nil, `<?xpacket begin="`+"\ufeff"+`" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">%s</rdf:li></rdf:Alt></dc:title><dc:creator><rdf:Seq><rdf:li>%s</rdf:li></rdf:Seq></dc:creator></rdf:Description>
<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/"><xmp:CreateDate>%s</xmp:CreateDate><xmp:ModifyDate>%s</xmp:ModifyDate><xmp:CreatorTool>dotkontor</xmp:CreatorTool></rdf:Description>
<rdf:Description rdf:about="" xmlns:fx="urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#"><fx:DocumentType>INVOICE</fx:DocumentType><fx:DocumentFileName>%s</fx:DocumentFileName><fx:Version>1.0</fx:Version><fx:ConformanceLevel>EN 16931</fx:ConformanceLevel></rdf:Description>
</rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>`, escapeXML(title), escapeXML(author), stamp, stamp, attachmentName)
}

func escapeXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // it writes to memory and can't fail
	return b.String()
}
