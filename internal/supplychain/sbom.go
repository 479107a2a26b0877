package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// pythonLicences are those of the packages that the engine's environment is made of (docs/licences.md). They are fetched
// by the operator's own package client and no part of the binary.
var pythonLicences = map[string]string{"woxi": "AGPL-3.0-only", "python-flint": "MIT AND LGPL-3.0-or-later", "passagemath-giac": "GPL-2.0-or-later AND GPL-3.0-or-later", "mpmath": "BSD-3-Clause"}

// requirementsFiles pin the packages of the engines and of the checker.
var requirementsFiles = []string{"runners/engine/requirements.txt", "runners/engine/giac/requirements.txt", "runners/engine/numerics/requirements.txt"}

// sbom lists the parts as CycloneDX 1.6 in JSON. The same parts give the same bytes.
func sbom(root, revision string, parts []part) ([]byte, error) {
	var components []cyclonedx.Component
	for _, p := range parts {
		c := cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, Name: p.path, Version: p.version, Scope: cyclonedx.ScopeRequired}
		switch {
		case p.excerpt:
			c.PackageURL, c.Description = "pkg:generic/"+p.path, "a modified excerpt in this folder of Reckon's source"
		case p.registry != "":
			c.PackageURL = "pkg:" + p.registry + "/" + p.path + "@" + p.version
		case p.version != "":
			c.PackageURL = "pkg:golang/" + p.path + "@" + p.version
		default:
			c.Name, c.PackageURL = "std", "pkg:golang/std"
		}
		c.BOMRef = c.PackageURL
		c.Licenses = licenceChoices(p.licences...)
		components = append(components, c)
	}
	packages, err := pythonPackages(root)
	if err != nil {
		return nil, err
	}
	components = append(components, packages...)
	document := cyclonedx.NewBOM()
	document.Components = &components
	document.Metadata = &cyclonedx.Metadata{Component: &cyclonedx.Component{
		BOMRef: "reckon", Type: cyclonedx.ComponentTypeApplication, Name: "reckon", Version: revision, Licenses: licenceChoices("Apache-2.0"),
	}}
	references := make([]string, len(components))
	for n, c := range components {
		references[n] = c.BOMRef
	}
	document.Dependencies = &[]cyclonedx.Dependency{{Ref: "reckon", Dependencies: &references}}
	body, err := encode(document)
	if err != nil {
		return nil, err
	}
	document.SerialNumber = uuid.NewSHA1(uuid.NameSpaceOID, body).URN()
	return encode(document)
}

func encode(document *cyclonedx.BOM) ([]byte, error) {
	var out bytes.Buffer
	err := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(document, cyclonedx.SpecVersion1_6)
	return out.Bytes(), err
}

func licenceChoices(names ...string) *cyclonedx.Licenses {
	var list cyclonedx.Licenses
	for _, name := range names {
		list = append(list, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: name}})
	}
	return &list
}

var (
	pinned = regexp.MustCompile(`(?m)^([a-z-]+)==([0-9.]+)((?: \\\n +--hash=sha256:[0-9a-f]{64})+)`)
	hash   = regexp.MustCompile(`[0-9a-f]{64}`)
)

// pythonPackages are those of the engines' environments, with the hashes of the files that may be installed.
func pythonPackages(root string) (all []cyclonedx.Component, err error) {
	for _, file := range requirementsFiles {
		list, err := packagesOf(root, file)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

func packagesOf(root, requirementsFile string) ([]cyclonedx.Component, error) {
	content, err := os.ReadFile(filepath.Join(root, requirementsFile))
	if err != nil {
		return nil, err
	}
	var list []cyclonedx.Component
	for _, found := range pinned.FindAllStringSubmatch(string(content), -1) {
		name, version := found[1], found[2]
		licence, known := pythonLicences[name]
		if !known {
			return nil, fmt.Errorf("%s: the licence of %s is not in pythonLicences", requirementsFile, name)
		}
		var hashes []cyclonedx.Hash
		for _, sum := range hash.FindAllString(found[3], -1) {
			hashes = append(hashes, cyclonedx.Hash{Algorithm: cyclonedx.HashAlgoSHA256, Value: sum})
		}
		address := "pkg:pypi/" + name + "@" + version
		list = append(list, cyclonedx.Component{
			Type: cyclonedx.ComponentTypeLibrary, BOMRef: address, PackageURL: address, Name: name, Version: version, Scope: cyclonedx.ScopeExcluded,
			Hashes: &hashes, Licenses: licenceChoices(strings.Split(licence, " AND ")...),
			Description: "fetched at installation into the engine's private environment; not part of the binary",
		})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no package found", requirementsFile)
	}
	return list, nil
}
