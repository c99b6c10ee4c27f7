// Package invoicepdf renders an issued document as a PDF and as the XML of an electronic
// invoice.
//
// The XML is a UN/CEFACT Cross Industry Invoice per EN 16931, which German law has
// required of electronic invoices since 2025. It is embedded in the PDF as factur-x.xml, as
// Factur-X and ZUGFeRD specify, and is also available on its own. If PDF and XML differed,
// which a test excludes, the XML would be binding. The PDF does not claim PDF/A
// conformance, because we have no validator for it.
//
// Both are rendered from the document alone and are reproducible byte for byte. Texts and
// amounts come from the document; this package adds only the labels of the form, in German
// and, for customers who chose it, also in English.
//
// The Go fonts cover Latin, Greek and Cyrillic. A character that they lack is shown as an
// empty box, and the PDF then refers to the XML for the full spelling.
package invoicepdf
