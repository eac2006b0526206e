// Command dist makes what a release consists of, from the sources in the working
// directory:
//
//	dist/<os>-<arch>/fsmtx, fsmtx-tools           the programs
//	dist/fsmtx_<version>_<os>_<arch>.tar.gz     the programs, the licence, README.md,
//	                                            CHANGELOG.md, manual pages, completions
//	dist/fsmtx_<version>_windows_<arch>.zip     the same for Windows
//	dist/fsmtx_<version>.cdx.json               what the programs consist of (CycloneDX)
//	dist/install.sh, install.ps1                install an archive, whose digest they have
//	dist/packaging/fsmtx.rb                     the formula for a Homebrew tap
//	dist/packaging/aqua.yaml, mise.toml         the entries for the registries of aqua and mise
//	dist/packaging/scoop, winget                the manifests for Windows
//	dist/devcontainer-feature-fsmtx.tgz         the feature for development containers
//	dist/SHA256SUMS                             of all of these files, for sha256sum -c
//	dist/VERSION                                the version
//
// The same commit, built with the same version of Go, gives the same bytes on every
// machine: nothing depends on the directory, the user or the clock. Times are that of the
// commit, in SOURCE_DATE_EPOCH (seconds since 1970).
//
// make dist runs it. Its other uses:
//
//	dist -man DIR      writes only the manual pages
//	dist -notes        prints the release notes of this version, from CHANGELOG.md
//	dist -version      prints the version
//	dist -npm          adds the packages for npm, from the programs in dist/
//
// GoReleaser does the same and more. Its newest version needs a newer Go than this module,
// and compiling it takes several times as long as everything that it would do here.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/programs"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "dist: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	r := release{Build: programs.GetBuild()}
	flags := flag.NewFlagSet("dist", flag.ContinueOnError)
	flags.StringVar(&r.source, "source", ".", "the sources")
	flags.StringVar(&r.out, "out", "dist", "the directory to write")
	flags.StringVar(&r.ldflags, "ldflags", "", "of the go command, for the programs")
	platforms := flags.String("platforms", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64",
		"what to build for")
	man := flags.String("man", "", "write only the manual pages, into this directory")
	notes := flags.Bool("notes", false, "print only the release notes")
	npm := flags.Bool("npm", false, "add only the packages for npm")
	printVersion := flags.Bool("version", false, "print only the version")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r.platforms = strings.Split(*platforms, ",")
	switch {
	case *printVersion:
		_, err := fmt.Fprintln(out, r.Version)
		return err
	case *notes:
		return r.printNotes(out)
	}
	var err error
	if r.date, err = commitDate(); err != nil {
		return err
	}
	if *npm {
		return r.writePackages()
	}
	if *man != "" {
		pages, err := manualPages(r.Version, r.date)
		if err != nil {
			return err
		}
		return writeFiles(*man, pages)
	}
	return r.make()
}

// commitDate returns the time that all files get.
func commitDate() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		return time.Time{}, errors.New("SOURCE_DATE_EPOCH is not set: it is the time of the commit, in seconds (make dist sets it; " +
			"outside of a repository set it yourself)")
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
