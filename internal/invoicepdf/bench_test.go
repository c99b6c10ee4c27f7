package invoicepdf

import "testing"

func BenchmarkPDF(b *testing.B) {
	r, err := New()
	if err != nil {
		b.Fatal(err)
	}
	d := sampleInvoice(1)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		pdf, err := r.PDF(d)
		if err != nil {
			b.Fatal(err)
		}
		n = len(pdf)
	}
	b.ReportMetric(float64(n), "pdf-bytes")
}
