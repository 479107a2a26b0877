package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// SettingError says which setting cannot be used, by all the names under which
// an operator may have set it.
type SettingError struct {
	Setting string // flag name without dashes, which is the key of the TOML file too
	Err     error
}

// Error names the flag, the environment variable and the key of the file.
func (e *SettingError) Error() string {
	variable := "RECKON_" + strings.ToUpper(strings.ReplaceAll(e.Setting, "-", "_"))
	return fmt.Sprintf("--%s (%s, or %s in the configuration file): %v", e.Setting, variable, e.Setting, e.Err)
}

// Unwrap is what is wrong with the value.
func (e *SettingError) Unwrap() error { return e.Err }

// settingError names the setting of a field. It panics for a field that does not
// exist, which is a mistake in this package.
func settingError(of any, field string, err error) *SettingError {
	found, ok := reflect.TypeOf(of).FieldByName(field)
	if !ok {
		panic(fmt.Sprintf("config: %T has no field %s", of, field))
	}
	return &SettingError{Setting: flagName(found), Err: err}
}

// wordStart is where a new word begins in a Go name.
var wordStart = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// flagName is the name that kong gives the flag of a field.
func flagName(field reflect.StructField) string {
	if name := field.Tag.Get("name"); name != "" {
		return name
	}
	return strings.ToLower(wordStart.ReplaceAllString(field.Name, "$1-$2"))
}

// checks collects what is wrong with a configuration.
type checks struct {
	of     *Serve
	errors []error
}

// require notes a SettingError for a field unless ok.
func (c *checks) require(field string, ok bool, format string, arguments ...any) {
	failed := settingError(*c.of, field, fmt.Errorf(format, arguments...)) // made in any case: a wrong field name shows at once
	if !ok {
		c.errors = append(c.errors, failed)
	}
}

// refuse notes a SettingError for a field unless err is nil.
func (c *checks) refuse(field string, err error) {
	if err != nil {
		c.errors = append(c.errors, settingError(*c.of, field, err))
	}
}

// join notes an error that names its setting already.
func (c *checks) join(err error) {
	if err != nil {
		c.errors = append(c.errors, err)
	}
}

func (c *checks) err() error { return errors.Join(c.errors...) }
