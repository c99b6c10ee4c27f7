package invoicepdf

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// attachmentName is the name that Factur-X requires for the XML in a PDF.
const attachmentName = "factur-x.xml"

// addFacturX embeds the XML as an alternative representation of the pages, which readers
// of electronic invoices require (ISO 32000-2, 14.13), and returns the object to refer to.
func addFacturX(file *pdfFile, data []byte, modified time.Time) int {
	content := file.addStream(fmt.Sprintf("/Type /EmbeddedFile /Subtype /text#2Fxml /Params << /ModDate %s /Size %d >>", dateString(modified), len(data)), deflate(data))
	return file.add("<< /Type /Filespec /F (%[1]s) /UF (%[1]s) /AFRelationship /Alternative /Desc (Factur-X/ZUGFeRD, EN 16931) /EF << /F %[2]d 0 R /UF %[2]d 0 R >> >>",
		attachmentName, content)
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
