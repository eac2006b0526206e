package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestApplyChangesOneToken(t *testing.T) {
	const source = "package p\n\nfunc f(a, b int) bool { return a <= b+1 }\n"
	m := mutant{Type: "CONDITIONALS_BOUNDARY", Line: 3, Column: 34, file: "p.go"}
	got, err := m.apply(source)
	require.NoError(t, err)
	require.Equal(t, "package p\n\nfunc f(a, b int) bool { return a < b+1 }\n", got)
	m.Type = "CONDITIONALS_NEGATION"
	got, err = m.apply(source)
	require.NoError(t, err)
	require.Contains(t, got, "a > b+1")
	m.Type = "INCREMENT_DECREMENT"
	_, err = m.apply(source)
	require.ErrorContains(t, err, "p.go:3:34: cannot apply INCREMENT_DECREMENT")
}

func TestVerdict(t *testing.T) {
	path := filepath.Join(t.TempDir(), "survivors.txt")
	require.NoError(t, os.WriteFile(path, []byte("# a comment\n\nfsmspec/a.go\tARITHMETIC_BASE\tx := a + b\tonly a size hint\n"), 0o600))
	tried := []target{{pkg: "./fsmspec"}}
	listed := mutant{Type: "ARITHMETIC_BASE", file: "fsmspec/a.go", text: "x := a + b"}
	other := mutant{Type: "ARITHMETIC_BASE", file: "fsmspec/a.go", text: "y := a + b"}
	for name, c := range map[string]struct {
		survive []mutant
		want    string
	}{
		"the listed one":  {[]mutant{listed}, ""},
		"another one too": {[]mutant{listed, other}, "1 mutants survive that are not listed"},
		"none":            {nil, "1 lines of it are out of date"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := readSurvivors(path)
			require.NoError(t, err)
			for _, m := range c.survive {
				require.Equal(t, m == listed, s.expects(m))
			}
			err = s.verdict(tried)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestSurvivorsNeedAReason(t *testing.T) {
	path := filepath.Join(t.TempDir(), "survivors.txt")
	require.NoError(t, os.WriteFile(path, []byte("a.go\tARITHMETIC_BASE\tx := a + b\t \n"), 0o600))
	_, err := readSurvivors(path)
	require.ErrorContains(t, err, path+":1: ")
}

func TestTheListIsWellFormed(t *testing.T) {
	_, err := readSurvivors("survivors.txt")
	require.NoError(t, err)
}
