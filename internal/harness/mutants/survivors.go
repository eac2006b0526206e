package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// survivor is a listed mutant. Two operators of one type on one line are one
// survivor: their reasons are the same line's.
type survivor struct{ file, mutation, text string }

type survivors struct {
	path    string
	listed  map[survivor]int  // the line of the list
	seen    map[survivor]bool // those that survived
	others  int               // survivors that are not listed
	tried   int
	untried int
}

// readSurvivors reads the list. A line without a reason is an error.
func readSurvivors(path string) (*survivors, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &survivors{path: path, listed: map[survivor]int{}, seen: map[survivor]bool{}}
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 4 || strings.TrimSpace(fields[3]) == "" {
			return nil, fmt.Errorf("%s:%d: got %d fields, want file, type, source line and reason, separated by tabs", path, i+1, len(fields))
		}
		s.listed[survivor{fields[0], fields[1], fields[2]}] = i + 1
	}
	return s, nil
}

func (s *survivors) lists(m mutant) bool { return s.listed[survivor{m.file, m.mutation, m.text}] != 0 }

// expects notes that a mutant survived and reports whether it is listed.
func (s *survivors) expects(m mutant) bool {
	id := survivor{m.file, m.mutation, m.text}
	if s.listed[id] == 0 {
		s.others++
		return false
	}
	s.seen[id] = true
	return true
}

// verdict returns an error if more than most percent of the mutants survived and are not
// listed, or a listed one of the packages that were tried did not survive.
func (s *survivors) verdict(tried []target, most int) error {
	stale := 0
	for id, line := range s.listed {
		for _, t := range tried {
			if strings.HasPrefix(id.file, filepath.Clean(t.pkg)+"/") && !s.seen[id] {
				fmt.Printf("%s:%d: %s on %q in %s is listed and does not survive; remove the line\n", s.path, line, id.mutation, id.text, id.file)
				stale++
			}
		}
	}
	fmt.Printf("%d mutants were tried, %d were not\n", s.tried, s.untried)
	if s.tried == 0 && s.untried > 0 {
		return fmt.Errorf("none of %d mutants was tried: give more time with -for", s.untried)
	}
	// those for which there was no time count as noticed: a few cannot show a percentage
	if 100*s.others > most*(s.tried+s.untried) || stale > 0 {
		return fmt.Errorf("%d of %d mutants survive that are not listed in %s, and %d lines of it are out of date", s.others, s.tried,
			s.path, stale)
	}
	return nil
}
