package catalog

import (
	"bytes"
	"strings"
	"testing"
)

const costHeader = "tld,register,renew,transfer,restore,min_years,max_years,popular,requires,verify,rdap,whois,cost_currency,cost_register,cost_renew,cost_transfer,cost_restore,below_cost\n"

// What an export writes, an import reads as the same list: known, free and unknown costs differ.
func TestCosts_ExportAndImportGiveTheSameList(t *testing.T) {
	t.Parallel()
	file := costHeader +
		".com,10.00,12.00,12.00,80.00,1,10,yes,,,,,USD,9.59,9.5901,0.00,,yes\n" +
		".de,6.90,6.90,6.90,0.00,1,1,,,,,,,,,,,\n"
	list, err := Parse(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	if err := list.Write(&first); err != nil {
		t.Fatal(err)
	}
	again, err := Parse(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatalf("%v in %s", err, first.String())
	}
	if err := again.Write(&second); err != nil || first.String() != second.String() || len(list.Diff(again)) != 0 {
		t.Errorf("%v\n%s\n%s", err, first.String(), second.String())
	}
	com, _ := again.Extension(".com")
	de, _ := again.Extension(".de")
	costs := com.Costs
	if costs.Register.String() != "9.59 USD" || costs.Renew.String() != "9.5901 USD" || costs.Transfer.String() != "0.00 USD" || !costs.Restore.IsZero() || !com.BelowCost {
		t.Errorf(".com: %+v", com)
	}
	if !de.Costs.Register.IsZero() || de.BelowCost {
		t.Errorf(".de: %+v", de)
	}
}

// A list without costs is downloaded with their columns, so that they can be filled in.
func TestWriteAll_HasColumnsOfCosts(t *testing.T) {
	t.Parallel()
	const row = ".de,6.90,6.90,6.90,0.00,1,1,,,,,"
	list, err := Parse(strings.NewReader(costHeader + row + ",,,,,,\n"))
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := list.WriteAll(&file); err != nil || file.String() != costHeader+row+",,,,,,\n" {
		t.Errorf("%v %s", err, file.String())
	}
}

func TestCosts_BadColumnsRejectTheList(t *testing.T) {
	t.Parallel()
	for name, costs := range map[string]string{
		"no currency": ",9.59,,,,", "no currency code": "dollars,9.59,,,,", "negative": "USD,-1.00,,,,", "no number": "USD,cheap,,,,", "neither yes nor empty": "USD,9.59,,,,maybe",
	} {
		if _, err := Parse(strings.NewReader(costHeader + ".com,10.00,12.00,12.00,80.00,1,10,yes,,,,," + costs + "\n")); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
