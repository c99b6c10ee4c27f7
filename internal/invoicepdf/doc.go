// Package paper makes an issued document into what people and programs read: a PDF,
// and the XML of an electronic invoice that goes with it.
//
// The XML is a Cross Industry Invoice of UN/CEFACT after EN 16931, which is what
// German law has called an electronic invoice since 2025. It lies inside of the PDF
// as factur-x.xml, in the way in which Factur-X and ZUGFeRD want it, and can be had
// alone. The PDF looks after its reader; where they differ, which a test excludes,
// the XML counts. The PDF does not claim to be PDF/A: nobody here can prove it.
//
// Both are made from the document alone, and are the same to the byte each time. It
// decides nothing: the sentences and sums are the document's, here are only the words
// of a form, in German and, for customers who chose it, with English beside.
//
// The fonts are Go's own, which have Latin, Greek and Cyrillic letters. A letter that
// they have not is shown as an empty box, and the paper then says that the XML has the
// full spelling.
package invoicepdf
