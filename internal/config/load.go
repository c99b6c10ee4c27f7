package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

const envPrefix = "DOTKONTOR_"

// nonSettingVars are variables with our prefix that are not settings: the path of the
// configuration file, a customer's token for doctor, and the tests' PostgreSQL server.
var nonSettingVars = []string{"DOTKONTOR_CONFIG", "DOTKONTOR_TOKEN", "DOTKONTOR_TEST_POSTGRES"}

// Load reads the file at path ("" means none), then the environment (as from
// os.Environ), and checks the result. The error lists every problem, one line each. The
// configuration returned with it has everything that could be read, for further checks;
// it is empty if the file itself could not be read.
func Load(path string, environment []string) (Config, error) {
	cfg := Default()
	var problems []error
	if path != "" {
		unread, err := readFile(&cfg, path)
		if err != nil {
			return Config{}, err // there is nothing to check
		}
		problems = unread
	}
	problems = append(problems, readEnvironment(&cfg, environment), cfg.readPasswordFiles())
	cfg.fillBaseURL()
	return cfg, errors.Join(append(problems, cfg.Check())...)
}

// readFile decodes each setting on its own, so that one mistake does not hide others. An
// invalid setting keeps its default and is reported.
func readFile(cfg *Config, path string) (problems []error, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the configuration file can't be read: %w", err)
	}
	var settings map[string]toml.Primitive
	meta, err := toml.Decode(string(text), &settings)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d := decoder{meta: meta, path: path}
	d.section(reflect.ValueOf(cfg).Elem(), settings, "")
	return d.problems, nil
}

// decoder fills the configuration from a file and collects problems.
type decoder struct {
	meta     toml.MetaData
	path     string
	problems []error
}

func (d *decoder) section(section reflect.Value, settings map[string]toml.Primitive, prefix string) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		field, known := fieldOf(section, name)
		if !known {
			d.problems = append(d.problems, fmt.Errorf("%s: unknown key %s", d.path, prefix+name))
			continue
		}
		if err := d.setting(field, settings[name], prefix+name); err != nil {
			d.problems = append(d.problems, fmt.Errorf("%s: %s: %s", d.path, prefix+name, decodeReason(err)))
		}
	}
}

func (d *decoder) setting(field reflect.Value, value toml.Primitive, key string) error {
	switch {
	case field.Kind() == reflect.Struct:
		var settings map[string]toml.Primitive
		if err := d.meta.PrimitiveDecode(value, &settings); err != nil {
			return err
		}
		d.section(field, settings, key+".")
		return nil
	case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct:
		var tables []map[string]toml.Primitive
		if err := d.meta.PrimitiveDecode(value, &tables); err != nil {
			return err
		}
		field.Set(reflect.MakeSlice(field.Type(), len(tables), len(tables)))
		for i, settings := range tables {
			d.section(field.Index(i), settings, fmt.Sprintf("%s[%d].", key, i))
		}
		return nil
	default:
		read := reflect.New(field.Type())
		read.Elem().Set(field)
		if err := d.meta.PrimitiveDecode(value, read.Interface()); err != nil {
			return err
		}
		field.Set(read.Elem())
		return nil
	}
}

// decodeReason returns the library's message and line number. It omits the library's key,
// which has no index for tables in an array.
func decodeReason(err error) string {
	text := strings.TrimPrefix(err.Error(), "toml: ")
	var located toml.ParseError
	if !errors.As(err, &located) {
		return text
	}
	if _, message, found := strings.Cut(text, fmt.Sprintf("(last key %q): ", located.LastKey)); found {
		text = message
	}
	return fmt.Sprintf("%s (line %d)", text, located.Position.Line)
}

// fieldOf returns a section's field for a key. Keys are case-insensitive.
func fieldOf(section reflect.Value, key string) (field reflect.Value, known bool) {
	for i := range section.NumField() {
		name, _, _ := strings.Cut(section.Type().Field(i).Tag.Get("toml"), ",")
		if strings.EqualFold(name, key) {
			return section.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func readEnvironment(cfg *Config, environment []string) error {
	fields := make(map[string]reflect.Value)
	eachSetting(reflect.ValueOf(cfg).Elem(), "", func(key string, field reflect.Value, _ reflect.StructTag) {
		if !strings.Contains(key, "[") && field.Kind() != reflect.Map { // tables can be set in the file only
			fields[envPrefix+strings.ToUpper(strings.ReplaceAll(key, ".", "_"))] = field
		}
	})
	var problems []error
	for _, variable := range environment {
		name, text, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, envPrefix) || slices.Contains(nonSettingVars, name) {
			continue
		}
		field, known := fields[name]
		if setting, found := strings.CutSuffix(name, fileSuffix); found && !known && isSecret(fields[setting]) {
			field, known = fields[setting], true
			var err error
			if text, err = readSecret(text); err != nil {
				problems = append(problems, fmt.Errorf("environment: %s: %w", name, err))
				continue
			}
		}
		if !known {
			problems = append(problems, fmt.Errorf("environment: %s is not a setting", name))
			continue
		}
		if err := setFromText(field, text); err != nil {
			problems = append(problems, fmt.Errorf("environment: %s: %w", name, err))
		}
	}
	return errors.Join(problems...)
}

// fileSuffix makes a variable name a file that contains the secret, as container platforms mount
// them. It is read again with the configuration, so a rotated secret_key needs no restart.
const fileSuffix = "_FILE"

func isSecret(field reflect.Value) bool {
	if !field.IsValid() {
		return false
	}
	switch field.Addr().Interface().(type) {
	case *Secret, *[]Secret:
		return true
	default:
		return false
	}
}

// readSecret reads a file with one secret; of a list, each line is an entry.
func readSecret(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("the file can't be read: %w", err)
	}
	return strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", ","), nil
}

// readPasswordFiles sets the passwords that registry accounts have in files.
func (c *Config) readPasswordFiles() error {
	var problems []error
	for i := range c.EPP {
		account := &c.EPP[i]
		if account.PasswordFile == "" {
			continue
		}
		text, err := readSecret(account.PasswordFile)
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("epp[%d].password_file: %w", i, err))
		case account.Password != "" && account.Password != Secret(text):
			problems = append(problems, fmt.Errorf("epp[%d].password_file: password is set as well; remove one", i))
		}
		account.Password = Secret(text)
	}
	return errors.Join(problems...)
}

func setFromText(field reflect.Value, text string) error {
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
		*value = splitList[string](text)
	case *[]Secret:
		*value = splitList[Secret](text)
	default:
		return fmt.Errorf("a setting of type %T can't be set in the environment", value)
	}
	return nil
}

// splitList parses a comma-separated list.
func splitList[T ~string](text string) (parts []T) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, T(part))
		}
	}
	return parts
}

// Write writes the configuration to a file that Load can read.
func (c Config) Write(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(toml.NewEncoder(file).Encode(c), file.Close())
}
