// Package config is what an operator can set: one struct, filled from flags,
// RECKON_* environment variables and one TOML file, all under the same names, in
// this order of precedence; and the plan catalogue, which the TOML file may override.
//
// It promises that a misspelt key or variable value is an error that names it,
// never a default silently kept. It starts nothing and opens nothing but that file.
package config
