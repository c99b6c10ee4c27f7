package catalog

import (
	"slices"
	"testing"
)

func TestCategories_CoverEveryExtension(t *testing.T) {
	t.Parallel()
	list, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, ext := range list.All() {
		if !slices.ContainsFunc(Categories(), func(c Category) bool { return c.Contains(ext) }) {
			t.Errorf("%s is in no category", ext.TLD)
		}
	}
	for _, c := range Categories() {
		if !slices.ContainsFunc(list.All(), c.Contains) {
			t.Errorf("category %s is empty", c)
		}
	}
}

func TestCategory_Contains(t *testing.T) {
	t.Parallel()
	list, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		tld  string
		is   []Category
		isNo []Category
	}{
		{".de", []Category{CategoryPopular, "country"}, []Category{"other", "shopping"}},
		{".co.uk", []Category{"country"}, []Category{CategoryPopular}},
		{".de.com", []Category{"place"}, []Category{"country"}},
		{".shop", []Category{CategoryPopular, "shopping"}, []Category{"country"}},
		{".xn--p1acf", []Category{"other"}, []Category{"country"}},
	} {
		ext, ok := list.Extension(test.tld)
		if !ok {
			t.Fatalf("%s is not carried", test.tld)
		}
		for _, c := range test.is {
			if !c.Contains(ext) {
				t.Errorf("%s is not in %s", test.tld, c)
			}
		}
		for _, c := range test.isNo {
			if c.Contains(ext) {
				t.Errorf("%s is in %s", test.tld, c)
			}
		}
	}
}
