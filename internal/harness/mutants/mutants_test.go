package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
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

// TestSwitchedMutants: switched off, the source computes what it did; switched on, each
// mutant computes what the mutated source does.
func TestSwitchedMutants(t *testing.T) {
	const source = `package main

import "fmt"

type size int

const limit = 3 + 4

func f(a, b size, s string) string {
	n := a*b+a - -b
	i := map[string]int{"x": 1}
	i["x"]++
	n--
	n++
	if b < 2 {
		n += a / 2 % 5
	}
	if a <= b && n != limit {
		n -= 100
	}
	if s+"x" == "yx" && a == b {
		n -= 1000
	}
	return fmt.Sprint(n, i["x"], a > b, a >= b)
}

func main() { fmt.Print(f(2, 2, "y"), " ", f(1, 2, "n"), " ", f(3, 1, "n")) }
`
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("go.mod", []byte("module example\n\ngo 1.26\n"), 0o600))
	require.NoError(t, os.WriteFile("main.go", []byte(source), 0o600))
	var mutants []mutant
	for n, line := range strings.Split(source, "\n") {
		for column := range len(line) {
			for kind := range mutations {
				m := mutant{Type: kind, Line: n + 1, Column: column + 1, file: "main.go", text: line}
				before, at := line[:column], line[column:]
				// Only where gremlins would see a token: the operators of this source are
				// preceded by a space, an operand or a bracket, never by another operator.
				if strings.HasSuffix(before, "<") || strings.HasSuffix(before, ">") || strings.HasSuffix(before, "+") ||
					strings.HasSuffix(before, "!") || strings.HasPrefix(at, "-=") || strings.HasPrefix(at, "+=") ||
					(strings.HasPrefix(at, "++") || strings.HasPrefix(at, "--") || strings.HasSuffix(before, "-")) != (kind == "INCREMENT_DECREMENT") ||
					(kind == "INVERT_NEGATIVES") != strings.HasPrefix(at, "-b") {
					continue
				}
				if _, err := m.apply(source); err == nil {
					mutants = append(mutants, m)
				}
			}
		}
	}
	require.Greater(t, len(mutants), 15)

	b := &build{target: target{pkg: "."}, dir: t.TempDir(), in: map[int]bool{}}
	for i := range mutants {
		b.in[i] = true
	}
	require.NoError(t, b.compile(mutants))
	outside := map[string]bool{}
	for i, m := range mutants {
		if !b.in[i] {
			outside[m.text] = true
		}
	}
	assert.Equal(t, map[string]bool{
		`const limit = 3 + 4`: true, `	i["x"]++`: true, `	if s+"x" == "yx" && a == b {`: true,
	}, outside, "a constant, an element of a map, and a line with a sum of strings")

	binary, switchFile := filepath.Join(b.dir, "program"), filepath.Join(b.dir, "switch")
	out, err := exec.Command("go", "build", "-overlay", filepath.Join(b.dir, "overlay.json"), "-ldflags", "-X main.mutantSwitch="+switchFile, "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	output := func(binary string) string {
		out, _ := exec.Command(binary).Output() // a mutant may divide by zero
		return string(out)
	}
	on := func(n int) string {
		require.NoError(t, os.WriteFile(switchFile, []byte(strconv.Itoa(n)), 0o600))
		return output(binary)
	}
	plain := func(source string) string {
		dir := t.TempDir()
		file := filepath.Join(dir, "main.go")
		require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
		out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "program"), file).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return output(filepath.Join(dir, "program"))
	}
	assert.Equal(t, plain(source), on(0))
	for i, m := range mutants {
		if b.in[i] {
			mutated, err := m.apply(source)
			require.NoError(t, err)
			assert.Equal(t, plain(mutated), on(i+1), "%s in column %d of %s", m.Type, m.Column, m.text)
		}
	}
}

func TestSampleIsOfAll(t *testing.T) {
	all := [][]mutant{{{Line: 1}, {Line: 2}}, {}, {{Line: 3}}}
	for n, want := range map[int]int{1: 1, 2: 2, 3: 3, 10: 3} {
		mutants := slices.Clone(all)
		sample(mutants, n, rand.New(rand.NewPCG(1, 2)))
		assert.Equal(t, want, len(slices.Concat(mutants...)))
	}
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
