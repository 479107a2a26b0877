package main

import (
	_ "embed"
	"fmt"
)

//go:generate go run reckon/internal/supplychain licences

//go:embed third_party_licences.txt
var thirdPartyLicences string

// licencesCmd prints the notices and licences that must be distributed with the binary.
type licencesCmd struct{}

// Run prints NOTICE and the licences of all parts.
func (licencesCmd) Run() error {
	_, err := fmt.Print(thirdPartyLicences)
	return err
}
