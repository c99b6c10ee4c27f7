package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

const envPrefix = "DOTKONTOR_"

// notSettings are variables with our prefix that mean something else: where the
// configuration is, a customer's token for the doctor, and the database server
// of whoever runs our tests.
var notSettings = []string{"DOTKONTOR_CONFIG", "DOTKONTOR_TOKEN", "DOTKONTOR_TEST_POSTGRES"}

// Load reads the file at path ("" means none), then the environment (as from
// os.Environ), and checks the whole. The error lists everything that is wrong, one
// line each; the configuration beside it is what could be read, for further checks.
func Load(path string, environment []string) (Config, error) {
	cfg := Default()
	var problems []error
	if path != "" {
		unknown, err := readFile(&cfg, path)
		if err != nil {
			return Config{}, err // what is not read can't be checked
		}
		problems = unknown
	}
	problems = append(problems, readEnvironment(&cfg, environment))
	cfg.fillBaseURL()
	return cfg, errors.Join(append(problems, cfg.Check())...)
}

func readFile(cfg *Config, path string) (unknown []error, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the configuration file can't be read: %w", err)
	}
	meta, err := toml.Decode(string(text), cfg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, key := range meta.Undecoded() {
		unknown = append(unknown, fmt.Errorf("%s: unknown key %s", path, key))
	}
	return unknown, nil
}

func readEnvironment(cfg *Config, environment []string) error {
	fields := make(map[string]reflect.Value)
	collect(reflect.ValueOf(cfg).Elem(), envPrefix, fields)
	var problems []error
	for _, variable := range environment {
		name, text, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, envPrefix) || slices.Contains(notSettings, name) {
			continue
		}
		field, known := fields[name]
		if !known {
			problems = append(problems, fmt.Errorf("environment: %s is not a setting", name))
			continue
		}
		if err := set(field, text); err != nil {
			problems = append(problems, fmt.Errorf("environment: %s: %w", name, err))
		}
	}
	return errors.Join(problems...)
}

// collect finds every setting that one line of text can express.
func collect(section reflect.Value, prefix string, fields map[string]reflect.Value) {
	for i := range section.NumField() {
		field := section.Field(i)
		name := prefix + strings.ToUpper(section.Type().Field(i).Tag.Get("toml"))
		switch field.Kind() {
		case reflect.Struct:
			collect(field, name+"_", fields)
		case reflect.String, reflect.Int, reflect.Int64, reflect.Float64, reflect.Bool:
			fields[name] = field
		case reflect.Slice:
			if field.Type().Elem().Kind() == reflect.String {
				fields[name] = field
			}
		}
	}
}

func set(field reflect.Value, text string) error {
	switch value := field.Addr().Interface().(type) {
	case *string:
		*value = text
	case *Secret:
		*value = Secret(text)
	case *int:
		number, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		*value = number
	case *float64:
		number, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%q is not a number", text)
		}
		*value = number
	case *bool:
		truth, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		*value = truth
	case *Duration:
		return value.UnmarshalText([]byte(text))
	case *[]string:
		*value = list[string](text)
	case *[]Secret:
		*value = list[Secret](text)
	default:
		return fmt.Errorf("a setting of type %T can't come from the environment", value)
	}
	return nil
}

// list reads what commas separate.
func list[T ~string](text string) (parts []T) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, T(part))
		}
	}
	return parts
}

// Write prints cfg as a file that Load reads.
func (c Config) Write(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(toml.NewEncoder(file).Encode(c), file.Close())
}
