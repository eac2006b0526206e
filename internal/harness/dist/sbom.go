package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/fsmtx/fsmtx/internal/programs"
)

// bom returns what the programs consist of, as a CycloneDX document: each program of each
// platform, and the modules that the Go toolchain recorded in it. A module is listed only
// if a package of it is linked.
func (r release) bom() ([]byte, error) {
	root := cdx.Component{BOMRef: purl("github.com/fsmtx/fsmtx", r.Version), Type: cdx.ComponentTypeApplication, Name: "fsmtx",
		Version:    r.Version,
		PackageURL: purl("github.com/fsmtx/fsmtx", r.Version), Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}}
	components := map[string]cdx.Component{}
	dependencies := map[string][]string{root.BOMRef: nil}
	for _, platform := range r.platforms {
		system, _, _ := strings.Cut(platform, "/")
		for _, name := range programs.Both(system) {
			path := strings.ReplaceAll(platform, "/", "-") + "/" + name
			program, modules, err := r.program(path)
			if err != nil {
				return nil, err
			}
			components[program.BOMRef] = program
			dependencies[root.BOMRef] = append(dependencies[root.BOMRef], program.BOMRef)
			for _, m := range modules {
				components[m.BOMRef] = m
				dependencies[program.BOMRef] = append(dependencies[program.BOMRef], m.BOMRef)
			}
		}
	}
	bom := cdx.NewBOM()
	bom.SerialNumber = "urn:uuid:" + uuid(r.Version+"\n"+r.Commit)
	bom.Metadata = &cdx.Metadata{Timestamp: r.date.Format(time.RFC3339), Component: &root}
	listed := slices.SortedFunc(maps.Values(components), func(a, b cdx.Component) int { return cmp.Compare(a.BOMRef, b.BOMRef) })
	bom.Components = &listed
	var edges []cdx.Dependency
	for _, ref := range slices.Sorted(maps.Keys(dependencies)) {
		on := slices.Sorted(slices.Values(dependencies[ref]))
		edges = append(edges, cdx.Dependency{Ref: ref, Dependencies: &on})
	}
	bom.Dependencies = &edges
	var out bytes.Buffer
	err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return out.Bytes(), err
}

// program returns a program at a path below out, and its modules.
func (r release) program(path string) (program cdx.Component, modules []cdx.Component, err error) {
	file := filepath.Join(r.out, filepath.FromSlash(path))
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return program, nil, err
	}
	sum, err := sumOf(file)
	if err != nil {
		return program, nil, err
	}
	program = cdx.Component{BOMRef: "program:" + path, Type: cdx.ComponentTypeApplication, Name: path, Version: r.Version,
		Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}}}
	modules = append(modules, library("std", strings.TrimPrefix(info.GoVersion, "go")))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules = append(modules, library(m.Path, m.Version))
	}
	return program, modules, nil
}

func library(path, version string) cdx.Component {
	return cdx.Component{BOMRef: purl(path, version), Type: cdx.ComponentTypeLibrary, Name: path, Version: version,
		PackageURL: purl(path, version)}
}

// purl returns the package URL of a Go module.
func purl(path, version string) string {
	return "pkg:golang/" + strings.ToLower(path) + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// uuid returns a UUID of version 8 (RFC 9562) that depends on text only.
func uuid(text string) string {
	b := sha256.Sum256([]byte("fsmtx\n" + text))
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
