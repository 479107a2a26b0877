package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/licensecheck"
)

// Where the generated files lie below the root.
const (
	noticeFile   = "NOTICE"
	licencesFile = "cmd/reckon/third_party_licences.txt"
)

// compatible are the licences, by their SPDX names, whose parts an Apache-2.0 binary may contain.
var compatible = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "Unicode-DFS-2016", "Unlicense", "blessing"}

// noLicences are texts that go along but grant nothing under a name of SPDX's.
var noLicences = regexp.MustCompile(`(?i)^(notice|patents|copyright)`)

// scanner knows what licensecheck knows, and Unicode's licence as it reads since 2020: it names no folders any more.
func scanner() (*licensecheck.Scanner, error) {
	known := licensecheck.BuiltinLicenses()
	for _, l := range known {
		if _, after, found := strings.Cut(l.LRE, "NOTICE TO USER:"); found && l.ID == "Unicode-DFS-2016" {
			known = append(known, licensecheck.License{ID: l.ID, Type: l.Type, LRE: "NOTICE TO USER:" + after})
		}
	}
	return licensecheck.NewScanner(known)
}

var recogniser = sync.OnceValues(scanner) // takes a second to make

// recognise names the licences of a part's texts.
func (p *part) recognise() error {
	scanner, err := recogniser()
	if err != nil {
		return err
	}
	for _, t := range p.texts {
		if noLicences.MatchString(t.name) {
			continue
		}
		for _, match := range scanner.Scan([]byte(t.content)).Match {
			if !match.IsURL && !slices.Contains(p.licences, match.ID) {
				p.licences = append(p.licences, match.ID)
			}
		}
	}
	slices.Sort(p.licences)
	if len(p.licences) == 0 {
		return fmt.Errorf("%s %s has no licence that is recognised", p.path, p.version)
	}
	for _, licence := range p.licences {
		if !slices.Contains(compatible, licence) {
			return fmt.Errorf("%s %s is under %s, which is not among %v: look whether it may be linked", p.path, p.version, licence, compatible)
		}
	}
	return nil
}

// notice is what section 4(d) of the Apache License asks for, and a list of all parts.
func notice(parts []part) []byte {
	var out strings.Builder
	out.WriteString("Reckon\nCopyright 2026 The Reckon authors\n\n" +
		"Licensed under the Apache License, Version 2.0 (LICENSE). The binary contains the parts below, under\n" +
		"licences of their own and unmodified unless said; `reckon licences` prints their texts.\n\n")
	for _, p := range parts {
		modified := ""
		if p.excerpt {
			modified = " (a modified excerpt in this folder of Reckon's source)"
		}
		if p.registry != "" {
			modified = " (from " + p.registry + ")"
		}
		fmt.Fprintf(&out, "%s%s\n    %s\n", strings.TrimSpace(p.path+" "+p.version), modified, strings.Join(p.licences, ", "))
	}
	for _, p := range parts {
		for _, t := range p.texts {
			if strings.HasPrefix(strings.ToUpper(t.name), "NOTICE") {
				fmt.Fprintf(&out, "\nNotice of %s:\n\n%s\n", p.path, indent(t.content))
			}
		}
	}
	return []byte(out.String())
}

// licenceTexts are all texts, each once, with the parts it belongs to.
func licenceTexts(parts []part) []byte {
	var order []string
	of := map[string][]string{}
	for _, p := range parts {
		for _, t := range p.texts {
			if of[t.content] == nil {
				order = append(order, t.content)
			}
			of[t.content] = append(of[t.content], fmt.Sprintf("%s (%s)", strings.TrimSpace(p.path+" "+p.version), t.name))
		}
	}
	var out strings.Builder
	out.WriteString(string(notice(parts)))
	for _, content := range order {
		fmt.Fprintf(&out, "\n%s\n%s\n%[1]s\n\n%[3]s\n", strings.Repeat("=", 80), strings.Join(of[content], "\n"), content)
	}
	return []byte(out.String())
}

func indent(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }
