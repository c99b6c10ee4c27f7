package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLoad_SecretsAreReadFromFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	account := "[[epp]]\nname = \"one\"\nserver = \"epp.example:700\"\nuser = \"registrar\"\nextensions = [\"*\"]\n"
	password := write("epp", "from-a-file\n")
	file := write("good.toml", account+"password_file = \""+password+"\"\n")
	cfg, err := Load(file, []string{
		"DOTKONTOR_SECRET_KEY_FILE=" + write("key", NewKey()+"\n"), "DOTKONTOR_STRIPE_SECRET_KEY_FILE=" + write("stripe", "sk_test_0123456789abcdef\n"),
		"DOTKONTOR_STRIPE_WEBHOOK_SECRETS_FILE=" + write("webhooks", "whsec_0123456789abcdef\nwhsec_fedcba9876543210\n"), "DOTKONTOR_ADDITIONAL_SECRET_KEYS_FILE=" + write("none", "\n"),
	})
	if err != nil || cfg.SecretKey == "" || cfg.Stripe.SecretKey != "sk_test_0123456789abcdef" || cfg.EPP[0].Password != "from-a-file" ||
		!slices.Equal(cfg.Stripe.WebhookSecrets, []Secret{"whsec_0123456789abcdef", "whsec_fedcba9876543210"}) || len(cfg.AdditionalSecretKeys) != 0 {
		t.Errorf("got %+v, %v", cfg, err)
	}
	for name, test := range map[string]struct{ file, variable, want string }{
		"missing":        {file, "DOTKONTOR_SECRET_KEY_FILE=" + folder + "/missing", "DOTKONTOR_SECRET_KEY_FILE: the file can't be read"},
		"not a secret":   {file, "DOTKONTOR_SERVER_LISTEN_FILE=" + password, "DOTKONTOR_SERVER_LISTEN_FILE is not a setting"},
		"both passwords": {write("both.toml", account+"password = \"another-one\"\npassword_file = \""+password+"\"\n"), "DOTKONTOR_DATA=data", "epp[0].password_file: password is set as well"},
		"lost password":  {write("lost.toml", account+"password_file = \"/missing\"\n"), "DOTKONTOR_DATA=data", "epp[0].password_file: the file can't be read"},
	} {
		if _, err := Load(test.file, []string{test.variable}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
