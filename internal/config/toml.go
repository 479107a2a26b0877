package config

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/pelletier/go-toml/v2"

	"reckon/domain/account"
)

// plansKey is the one table of the file that is no flag.
const plansKey = "plans"

// File is the flag that names the TOML file.
type File = kong.ConfigFlag

// TOML reads a configuration file for kong. Keys are flag names.
func TOML(r io.Reader) (kong.Resolver, error) {
	var values map[string]any
	if err := toml.NewDecoder(r).Decode(&values); err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	return fileValues(values), nil
}

type fileValues map[string]any

// Resolve is kong.Resolver.
func (v fileValues) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, given := v[flag.Name]
	if !given || len(flag.Envs) == 0 { // a flag without a variable is for the command line only
		return nil, nil
	}
	for _, variable := range flag.Envs { // kong would let the file win over the environment
		if _, set := os.LookupEnv(variable); set {
			return nil, nil
		}
	}
	list, isList := value.([]any)
	if !isList {
		return fmt.Sprint(value), nil
	}
	written := make([]string, len(list))
	for i, item := range list {
		written[i] = fmt.Sprint(item)
	}
	return strings.Join(written, ","), nil
}

// Validate is kong.Resolver: every key must be a flag of some command that has a variable too.
func (v fileValues) Validate(app *kong.Application) error {
	known := []string{plansKey}
	var collect func(*kong.Node)
	collect = func(n *kong.Node) {
		for _, flag := range n.Flags {
			if len(flag.Envs) > 0 {
				known = append(known, flag.Name)
			}
		}
		for _, child := range n.Children {
			collect(child)
		}
	}
	for _, command := range app.Children {
		collect(command)
	}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if !slices.Contains(known, key) {
			return fmt.Errorf("configuration file: there is no setting %q", key)
		}
	}
	return nil
}

// LoadPlans is the plan catalogue: the default one, or with the [[plans]] of a
// TOML file. A table that names a default plan changes what it says and keeps
// the rest; another name is a plan of its own; plans the file does not name are
// dropped. An empty path, or a file without plans, gives the default.
func LoadPlans(path string) (account.Plans, error) {
	if path == "" {
		return account.DefaultPlans(), nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	return ParsePlans(content)
}

// ParsePlans is LoadPlans on the content of a file.
func ParsePlans(content []byte) (account.Plans, error) {
	var file struct {
		Plans []map[string]any `toml:"plans"`
	}
	if err := toml.Unmarshal(content, &file); err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	if len(file.Plans) == 0 {
		return account.DefaultPlans(), nil
	}
	var plans account.Plans
	for _, table := range file.Plans {
		name, _ := table["plan"].(string)
		plan, _ := account.DefaultPlans().Find(name)
		written, err := toml.Marshal(table)
		if err != nil {
			return nil, fmt.Errorf("plan %q: %w", name, err)
		}
		if _, prices := table["prices"]; prices {
			plan.Prices = nil // replaced, not merged
		}
		decoder := toml.NewDecoder(bytes.NewReader(written)).DisallowUnknownFields()
		if err := decoder.Decode(&plan); err != nil {
			return nil, fmt.Errorf("plan %q: %w", name, err)
		}
		plans = append(plans, plan)
	}
	return plans, plans.Validate()
}
