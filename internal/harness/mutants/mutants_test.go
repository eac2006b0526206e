package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// TestSwitchedMutants: switched off, the source computes what it did; switched on, each
// mutant computes what testdata says, which sources with these changes have printed.
func TestSwitchedMutants(t *testing.T) {
	const source = `package main

import (
	"fmt"
	"slices"
	"strings"
)

type size int

type yes bool

const limit = 3 + 4

func take(n size, x float64) string { return fmt.Sprint(n, x) }

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
	if s+s == "yy" && a == b {
		n -= 1000
	}
	if a > b && n > 0 || s == "n" {
		n += 10000
	}
	for _, part := range strings.SplitN("a/b/c", "/", 2) {
		s += part
	}
	for _, r := range slices.Backward([]rune{'x', 'y'}) {
		s += string(r)
	}
	for at := range map[string]bool{"": true} {
		s += at + strings.Repeat("", 2)
	}
	switch {
	case strings.HasSuffix(s, "n"):
		i["x"] = 5
	case !strings.HasPrefix(s, "z"):
		defer func(n size) { i["x"] += int(n) }(n)
	}
	is := func(n size) bool { if n > 3 { return true }; return false }
	fmt.Print(is(b))
	return fmt.Sprint(n, i["x"], a > b, a >= b, s, fmt.Sprint(true), take(8, 2))
}

func main() { fmt.Print(f(2, 2, "y"), " ", f(1, 2, "n"), " ", f(3, 1, "n")) }
`
	expected, err := filepath.Abs("testdata/switched.tsv")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("go.mod", []byte("module example\n\ngo 1.26\n"), 0o600))
	require.NoError(t, os.WriteFile("main.go", []byte(source), 0o600))
	mutants, err := mutantsOf("main.go", source, &constants{})
	require.NoError(t, err)
	mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return strings.HasPrefix(m.text, "func main() ") })
	require.Greater(t, len(mutants), 30)

	b := &build{target: target{pkg: "."}, ctx: t.Context(), dir: t.TempDir(), in: map[int]bool{}, as: map[int]string{}}
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
		`const limit = 3 + 4`: true, `i["x"]++`: true, `if s+s == "yy" && a == b {`: true, `s += at + strings.Repeat("", 2)`: true,
		`for at := range map[string]bool{"": true} {`: true,
	}, outside, "a constant, an element of a map, a sum of strings, and a range over a map")
	for i, m := range mutants {
		assert.True(t, b.in[i] || m.text != `if s+s == "yy" && a == b {` || m.mutation == "ARITHMETIC_BASE", "%v stays", m)
	}

	binary, switchFile := filepath.Join(b.dir, "program"), filepath.Join(b.dir, "switch")
	out, err := exec.Command("go", "build", "-trimpath", "-overlay", filepath.Join(b.dir, "overlay.json"), "-ldflags",
		"-X main.mutantSwitch="+switchFile, "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	output := func(binary string) string {
		out, _ := exec.Command(binary).Output() // a mutant may divide by zero
		return string(out)
	}
	marks := switchFile + ".marks"
	require.NoError(t, os.WriteFile(marks, make([]byte, len(mutants)+1), 0o600))
	on := func(n int) string {
		require.NoError(t, os.WriteFile(switchFile, []byte(strconv.Itoa(n)), 0o600))
		return output(binary)
	}
	text, err := os.ReadFile(expected)
	require.NoError(t, err)
	want := map[string]string{}
	for line := range strings.Lines(string(text)) {
		of, printed, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		want[of] = printed
	}
	require.Len(t, want, len(b.in)+1)
	assert.Equal(t, want["none"], on(0))
	assert.Equal(t, want["none"], on(-1-len(mutants)))
	marked, err := os.ReadFile(marks)
	require.NoError(t, err)
	for i := range b.in {
		m := mutants[i]
		printed := want[strings.TrimSpace(fmt.Sprintf("%d:%d %s %s", m.line, m.column, m.mutation, m.instead))]
		assert.Equal(t, printed, on(i+1), "%v", m)
		if printed != want["none"] {
			assert.NotZero(t, marked[i+1], "%v makes a difference", m)
		}
	}
}

// TestListOfMutants: what is changed in a source, to what, and what is left alone because a test could not notice it.
func TestListOfMutants(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		known  constants
		want   []string
	}{
		"operators; strings can only be added": {`package p

func f(a, b int, s string) bool {
	a++
	a = a - -b*2
	s = "x" + s + s
	return a <= b || s != ""
}
`, constants{}, []string{
			"4:3 INCREMENT_DECREMENT",
			"5:2 DROP_STATEMENT", "5:8 ARITHMETIC_BASE", "5:10 INVERT_NEGATIVES", "5:12 ARITHMETIC_BASE",
			"6:2 DROP_STATEMENT",
			"7:11 CONDITIONALS_BOUNDARY", "7:11 CONDITIONALS_NEGATION", "7:16 DROP_LEFT", "7:16 DROP_RIGHT", "7:21 CONDITIONALS_NEGATION",
		}},
		"operands, ranges and arguments": {`package p

const (
	one kind = iota
	two
)

func f(all []int, a, b, c bool) {
	if a && b && c || (a && b) {
	}
	for range all {
	}
	for i := range slices.Backward(all) {
		g(i, 7, -7, "text", "", true, two, 'x')
	}
	_ = make([]int, 0, 10)
	for i := range all {
		all[i].x = g(all[i])
	}
	panic("why")
}
`, constants{dirs: map[string]map[string]string{".": {"one": "two", "two": "one"}}}, []string{
			"9:5 NEVER", "9:7 DROP_LEFT", "9:7 DROP_RIGHT", "9:12 DROP_RIGHT", "9:17 DROP_LEFT", "9:17 DROP_RIGHT", "9:23 DROP_LEFT",
			"9:23 DROP_RIGHT",
			"13:11 TURN_ROUND",
			"14:3 DROP_STATEMENT", "14:8 CHANGE_ARGUMENT 7 + 1", "14:8 LESS_ARGUMENT 7 - 1", "14:11 INVERT_NEGATIVES",
			`14:15 CHANGE_ARGUMENT ""`, `14:23 CHANGE_ARGUMENT "mutant"`,
			"14:27 CHANGE_ARGUMENT false", "14:33 CHANGE_ARGUMENT one",
			"16:2 DROP_STATEMENT", "16:18 CHANGE_ARGUMENT 0 + 1",
			"18:3 DROP_STATEMENT",
		}},
		"whole conditions, statements and results": {`package p

func f(all []int, set map[int]bool) bool {
	if a == b {
	} else if g() {
	}
	if err := g(); err != nil || a {
	}
	switch {
	case !ok:
		n = 1
	case a, b:
		defer g()
	}
	defer f.Close()
	for _, i := range all {
		if i.is() {
			return true
		}
	}
	for _, i := range all {
		set[i] = true
	}
	x, err := os.OpenFile(p, os.O_RDONLY, 0)
	e = errors.New("wording")
	e = fmt.Errorf("wording: %w", e)
	return false
}
`, constants{}, []string{
			"4:5 ALWAYS", "4:5 NEVER", "5:12 ALWAYS", "5:12 NEVER", "7:21 CONDITIONALS_NEGATION", "7:28 DROP_RIGHT",
			"10:7 ALWAYS", "10:7 NEVER", "11:3 DROP_STATEMENT", "13:3 DROP_STATEMENT",
			"17:6 ALWAYS", "17:6 NEVER", "18:11 FLIP_RETURN", "22:3 DROP_STATEMENT",
			"25:2 DROP_STATEMENT", "26:2 DROP_STATEMENT", `26:17 CHANGE_ARGUMENT "wording: %v"`, "27:9 FLIP_RETURN",
		}},
	} {
		mutants, err := mutantsOf("p.go", c.source, &c.known)
		require.NoError(t, err)
		var got []string
		for _, m := range mutants {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%d:%d %s %s", m.line, m.column, m.mutation, m.instead)))
		}
		assert.Equal(t, c.want, got, name)
	}
}

// TestConstantsOfThePackages: a constant is changed to the next one of its declaration, and
// that of another package only to one that can be named.
func TestConstantsOfThePackages(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.Mkdir("colour", 0o700))
	require.NoError(t, os.WriteFile("colour/colour.go",
		[]byte("package colour\n\nconst (\n\tRed = iota\n\tGreen\n\thidden\n)\n\nconst Alone = 1\n"), 0o600))
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n\nimport \"example/colour\"\n", 0)
	require.NoError(t, err)
	known := &constants{module: "example"}
	for text, want := range map[string]string{"colour.Red": "colour.Green", "colour.Green": "", "colour.Alone": "",
		"other.Red": "", "Red": ""} {
		e, err := parser.ParseExpr(text)
		require.NoError(t, err)
		assert.Equal(t, want, known.another(e, file, "."), text)
	}
}

func TestMutantsOfAPlace(t *testing.T) {
	m := mutant{file: "txn/dir.go", line: 97}
	assert.True(t, m.isAt("txn/dir.go"))
	assert.True(t, m.isAt("txn/dir.go:97"))
	assert.False(t, m.isAt("txn/dir.go:9"))
	assert.False(t, m.isAt("txn/d"))
}

// TestBatches: the fast tests of a mutant run first, in one process.
func TestBatches(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	s := tests{suite: suite{"./p", "Own"}, parts: []part{
		{name: "TestA", took: ms(10)}, {name: "TestB", took: ms(20)}, {name: "TestC", took: ms(30)},
		{parent: "TestD", name: "one.two", took: ms(40)}, {parent: "TestD", name: "x", took: ms(50)}, {name: "TestE", took: ms(900)},
	}}
	got := s.batches(func(p part) bool { return p.name != "TestB" })
	assert.Equal(t, []batch{{"^(TestA|TestC)$", ms(40)}, {`^TestD$/^(one\.two|x)$`, ms(90)}, {"^(TestE)$", ms(900)}}, got)
	assert.Empty(t, s.batches(func(part) bool { return false }))
	s.parts = []part{{took: ms(5)}}
	assert.Equal(t, []batch{{"Own", ms(5)}}, s.batches(func(part) bool { return true }), "a suite that is not divided")
}

func TestSampleIsOfAll(t *testing.T) {
	all := [][]mutant{{{text: "a"}, {text: "b"}}, {}, {{text: "c"}}}
	for n, want := range map[int]int{1: 1, 2: 2, 3: 3, 10: 3} {
		mutants := slices.Clone(all)
		sample(mutants, n, 1)
		assert.Equal(t, want, len(slices.Concat(mutants...)))
	}
}

// TestTheSampleDoesNotDependOnOtherLines: nor on where the lines are, but on the seed.
func TestTheSampleDoesNotDependOnOtherLines(t *testing.T) {
	of := func(from, to int) (all []mutant) {
		for i := from; i < to; i++ {
			all = append(all, mutant{file: "a.go", line: i - from, text: strconv.Itoa(i / 2)}) // each line is there twice
		}
		return all
	}
	texts := func(mutants []mutant, n int, seed uint64) (all []string) {
		both := [][]mutant{mutants}
		sample(both, n, seed)
		for _, m := range both[0] {
			all = append(all, m.text)
		}
		return all
	}
	first := texts(of(0, 200), 50, 1)
	assert.Len(t, first, 50)
	assert.NotEqual(t, first, texts(of(0, 200), 50, 2))
	assert.Subset(t, first, texts(of(100, 200), 20, 1), "most of those that are left are chosen again, and others only when there is room")
}

func TestVerdict(t *testing.T) {
	path := filepath.Join(t.TempDir(), "survivors.txt")
	require.NoError(t, os.WriteFile(path, []byte("# a comment\n\nfsmspec/a.go\tARITHMETIC_BASE\tx := a + b\tonly a size hint\n"), 0o600))
	tried := []target{{pkg: "./fsmspec"}}
	listed := mutant{mutation: "ARITHMETIC_BASE", file: "fsmspec/a.go", text: "x := a + b"}
	other := mutant{mutation: "ARITHMETIC_BASE", file: "fsmspec/a.go", text: "y := a + b"}
	for name, c := range map[string]struct {
		survive []mutant
		most    int
		want    string
	}{
		"the listed one":             {[]mutant{listed}, 0, ""},
		"another one too":            {[]mutant{listed, other}, 0, "1 of 4 mutants survive that are not listed"},
		"another one, and more may":  {[]mutant{listed, other}, 25, ""},
		"another one, and fewer may": {[]mutant{listed, other}, 24, "1 of 4 mutants survive that are not listed"},
		"none":                       {nil, 25, "1 lines of it are out of date"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := readSurvivors(path)
			require.NoError(t, err)
			for _, m := range c.survive {
				require.Equal(t, m == listed, s.expects(m))
			}
			s.tried = 4
			err = s.verdict(tried, c.most)
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

// TestSuitesSelectTests: a suite that selects none would notice nothing.
func TestSuitesSelectTests(t *testing.T) {
	other, err := choose([]string{"../mutants"})
	require.NoError(t, err)
	for _, target := range append(other, targets...) {
		for _, s := range target.also {
			files, err := filepath.Glob(filepath.Join("../../..", s.pkg, "*_test.go"))
			require.NoError(t, err)
			selects := slices.ContainsFunc(files, func(file string) bool {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				names := regexp.MustCompile(`(?m)^func (Test|Fuzz)\w+`).FindAllString(string(text), -1)
				return slices.ContainsFunc(names, regexp.MustCompile(s.run).MatchString)
			})
			assert.True(t, selects, "%s: %v", target.pkg, s)
		}
	}
}

// TestTheListIsOfThisSource: a line whose source is gone would fail only the whole run, which takes a day.
func TestTheListIsOfThisSource(t *testing.T) {
	s, err := readSurvivors("survivors.txt")
	require.NoError(t, err)
	for listed, line := range s.listed {
		source, err := os.ReadFile(filepath.Join("../../..", listed.file))
		require.NoError(t, err)
		has := slices.ContainsFunc(strings.Split(string(source), "\n"), func(l string) bool { return strings.TrimSpace(l) == listed.text })
		assert.True(t, has, "survivors.txt:%d: %s has no line %s", line, listed.file, listed.text)
	}
}

// TestTheTimeIsThatOfTrying: it does not pass while the tests are built and run without a mutant, however loaded the machine is.
func TestTheTimeIsThatOfTrying(t *testing.T) {
	worlds.Long(t)
	t.Chdir("../../..")
	tried := target{pkg: "./internal/pattern"}
	known, err := newConstants()
	require.NoError(t, err)
	mutants, err := tried.mutants(known)
	require.NoError(t, err)
	results, err := tried.try(t.Context(), mutants, func(mutant) bool { return true }, options{workers: 1, limit: 1})
	require.NoError(t, err)
	assert.Contains(t, results, noticed, "at least one is tried")
	assert.Contains(t, results, untried)
	none := &survivors{untried: 1}
	require.ErrorContains(t, none.verdict(nil, 0), "none of 1 mutants was tried")
}
