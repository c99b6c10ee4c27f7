package account

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestSealTOTP_BoundToAccount(t *testing.T) {
	t.Parallel()
	seal, err := registrar.NewSeal([32]byte{7})
	if err != nil {
		t.Fatal(err)
	}
	s := &Service{cfg: Config{Seal: seal}}
	sealed := s.sealTOTP("cus_ada", "JBSWY3DPEHPK3PXP")
	if secret, err := s.openTOTP("cus_ada", sealed); err != nil || secret != "JBSWY3DPEHPK3PXP" {
		t.Errorf("got %q, %v", secret, err)
	}
	if _, err := s.openTOTP("cus_bob", sealed); err == nil {
		t.Error("a secret was copied to another account")
	}
	for _, broken := range []string{"", "!", sealed[:10], sealed[:len(sealed)-2] + "AA"} {
		if _, err := s.openTOTP("cus_ada", broken); err == nil {
			t.Errorf("%q was opened", broken)
		}
	}
}
