package config

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// ErrBadKey describes a valid key. It does not quote the invalid one.
var ErrBadKey = errors.New("it is not 32 bytes in base64; 'dotkontor config new-key' prints a new key")

// NewKey returns a random secret key in the format of the configuration file.
func NewKey() string {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	return FormatKey(key)
}

// FormatKey returns a key in the format of the configuration file.
func FormatKey(key [32]byte) string { return base64.StdEncoding.EncodeToString(key[:]) }

// ParseKey parses a key in the format of FormatKey.
func ParseKey(text string) (key [32]byte, err error) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(raw) != len(key) {
		return key, ErrBadKey
	}
	copy(key[:], raw)
	return key, nil
}

func (c *Config) checkDatabase(k *checker) {
	if c.SecretKey != "" {
		if _, err := ParseKey(string(c.SecretKey)); err != nil {
			k.addf("secret_key", "%v", err)
		}
	}
	for _, key := range c.AdditionalSecretKeys {
		if _, err := ParseKey(string(key)); err != nil {
			k.addf("additional_secret_keys", "%v", err)
			break
		}
	}
	c.checkShared(k)
	if c.Database.URL == "" {
		return
	}
	address, err := url.Parse(string(c.Database.URL))
	if err != nil || address.Scheme != "postgres" && address.Scheme != "postgresql" || strings.Trim(address.Path, "/") == "" {
		// The value is not quoted: it may contain a password.
		k.addf("database.url", "it must be like postgres://user:password@host:5432/name; without it the database is SQLite in the data folder")
	}
	if c.SecretKey == "" {
		k.addf("secret_key", "it is required with database.url, the same on every node; 'dotkontor config new-key' prints one")
	}
}

func (c *Config) checkShared(k *checker) {
	if c.Shared.URL == "" {
		return
	}
	address, err := url.Parse(string(c.Shared.URL)) // not quoted below: it may contain a password
	if err != nil || address.Host == "" || !slices.Contains([]string{"redis", "rediss", "valkey", "valkeys"}, address.Scheme) {
		k.addf("shared.url", "it must be like rediss://:password@host:6379/0")
		return
	}
	encrypted := address.Scheme == "rediss" || address.Scheme == "valkeys"
	if !encrypted && !registrar.IsLoopbackHost(address.Hostname()) && !c.Shared.AllowPlaintext {
		k.addf("shared.url", "%s is on another machine: use rediss:// (TLS), or set shared.allow_plaintext = true if that network is trusted", address.Hostname())
	}
}
