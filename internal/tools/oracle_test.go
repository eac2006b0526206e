//go:build oracle && unix

// The oracle is the program of commit 0435842a. It and the program as it is get the same
// sessions, events and files; each answer, exit code and file that differs has to be in
// testdata/oracle/differences.txt, with the reason.
package tools_test

import (
	"bytes"
	"encoding/gob"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/renameio/v2"
	"github.com/rogpeppe/go-internal/diff"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/programs"
)

const oracleCommit = "0435842a00a1792cbb0845bc52efc6ca35783f4b"

var (
	oracleInputs = flag.String("inputs", "", "give only inputs whose name matches this `pattern`")
	oracleOf     = flag.Int("of", 1, "give one input in `N`")
	oracleSeed   = flag.Int64("seed", 1, "the first of the walks' seeds")
	oracleWalks  = flag.Int("walks", 120, "how many walks through random workflows")
	oracleLines  = flag.String("lines", "", "write each line that differs to this `file`, behind the rule that explains it")
	oracleOwn    = flag.Bool("own", false, "compare the oracle with itself: whatever is listed is noise")
)

// An input is played with both programs, in the same directory. What it sees is compared point
// by point, up to the first point at which they do something else.
type input struct {
	name, text string // what is played, for the key of the answers that are kept
	play       func(t testing.TB, w *scene) []point
}

// A point is one thing that was done with a program, and what was seen then: output, exit
// code, and the files that it changed, with what varies normalised.
type point struct{ Did, Saw string }

// A scene is the directory of an input, with the programs in bin.
type scene struct {
	dir    string
	root   string // what is below it is looked at
	oracle bool
	files  map[string]stamp
	points []point
}

func (w *scene) at(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

// TestOracle gives each input to both programs.
func TestOracle(t *testing.T) {
	old, now := oraclePrograms(t), program.Dir(t)
	if *oracleOwn {
		now = old
	}
	source := filepath.Join(old, "src")
	inputs := slices.Concat(sessionInputs(t, source), guardInputs(t, source), hookInputs(t, source), walkInputs(t), hostileInputs(t),
		agentInputs(t), togetherInputs(t), loopInputs(t))
	slices.SortFunc(inputs, func(a, b input) int {
		return strings.Compare(digest([]byte(a.name)),
			digest([]byte(b.name)))
	}) // for a sample of all
	allowed := readDifferences(t, "../../testdata/oracle/differences.txt")
	temp, err := filepath.EvalSymlinks(os.TempDir())
	require.NoError(t, err)
	root := filepath.Join(temp, fmt.Sprintf("fsmtx-oracle-%08x", rand.Uint32())) // always as long: paths are in tables
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	wanted := regexp.MustCompile(*oracleInputs)
	whole := *oracleInputs == "" && *oracleOf == 1
	var found sync.Mutex
	n := 0
	t.Run("input", func(t *testing.T) {
		for i, in := range inputs {
			if !wanted.MatchString(in.name) || i%*oracleOf != 0 || allowed.leavesOut(in.name) {
				continue
			}
			n++
			t.Run(strings.ReplaceAll(in.name, " ", "-"), func(t *testing.T) {
				t.Parallel()
				all := differences(t, in, filepath.Join(root, digest([]byte(in.name))), old, now, allowed)
				found.Lock()
				defer found.Unlock()
				for did, text := range allowed.count(all) {
					t.Errorf("%s: %s\n%s", in.name, did, text)
				}
			})
		}
	})
	if *oracleLines != "" {
		require.NoError(t, os.WriteFile(*oracleLines, []byte(allowed.listed.String()), 0o644))
	}
	allowed.report(t, n, whole && !t.Failed())
}

// A difference is a point at which the programs differ, with the lines of the oracle behind -
// and those of the program as it is behind +.
type difference struct {
	input, did string
	lines      []string
}

// differences plays an input with both programs. What is not allowed has to be seen twice, because the machine may be loaded.
func differences(t *testing.T, in input, dir, old, now string, allowed *differenceList) (all []difference) {
	for try := range 2 {
		answers := play(t, in, dir, now, *oracleOwn)
		again := compared(in, answered(t, in, dir, old, try > 0 || *oracleOwn), answers)
		if try == 0 {
			all = again
		} else {
			all = seenAgain(all, again)
		}
		n := 0
		for _, rule := range slices.Concat(allowed.explained(all)...) {
			if rule == nil {
				n++
			}
		}
		if *oracleOwn || n == 0 || n > 20 { // noise is a line or two
			break
		}
	}
	return all
}

// answered returns the oracle's points, which are kept beside it as long as the input and the
// code that plays it are the same.
func answered(t testing.TB, in input, dir, old string, anew bool) (points []point) {
	key := []byte(in.name + "\x00" + in.text)
	for _, pattern := range []string{"oracle_*_test.go", "script_test.go", "step_test.go", "hostile_test.go", "hooks_cases_test.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			key = append(key, text...)
		}
	}
	file := filepath.Join(old, "answers", digest(key))
	if text, err := os.ReadFile(file); err == nil && !anew && gob.NewDecoder(bytes.NewReader(text)).Decode(&points) == nil {
		return points
	}
	points = play(t, in, dir, old, true)
	var text bytes.Buffer
	require.NoError(t, gob.NewEncoder(&text).Encode(points))
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, renameio.WriteFile(file, text.Bytes(), 0o644))
	return points
}

func seenAgain(all, again []difference) (both []difference) {
	lines := map[string]bool{}
	for _, d := range again {
		for _, line := range d.lines {
			lines[d.did+"\n"+line] = true
		}
	}
	for _, d := range all {
		d.lines = slices.DeleteFunc(slices.Clone(d.lines), func(line string) bool { return !lines[d.did+"\n"+line] })
		if len(d.lines) > 0 {
			both = append(both, d)
		}
	}
	return both
}

func play(t testing.TB, in input, dir, from string, oracle bool) []point {
	w := &scene{dir: dir, root: dir, oracle: oracle, files: map[string]stamp{}}
	require.NoError(t, os.MkdirAll(w.at("bin"), 0o755))
	defer func() {
		_ = exec.Command("chmod", "-R", "u+rwX", dir).Run()
		require.NoError(t, os.RemoveAll(dir))
	}()
	names := programs.Both()
	if oracle {
		names = []string{"fsmtx", "fsmtx-mcp"}
	}
	for _, name := range names {
		if path := filepath.Join(from, name); os.Link(path, w.at("bin", name)) != nil { // another file system
			require.NoError(t, exec.Command("cp", path, w.at("bin", name)).Run())
		}
	}
	return in.play(t, w)
}

func compared(in input, old, now []point) (all []difference) {
	for i := range max(len(old), len(now)) {
		switch {
		case i >= len(now):
			return append(all, difference{in.name, old[i].Did, []string{"-goes on here"}})
		case i >= len(old):
			return append(all, difference{in.name, now[i].Did, []string{"+goes on here"}})
		case old[i].Did != now[i].Did:
			return append(all, difference{in.name, old[i].Did, []string{"-" + old[i].Did, "+" + now[i].Did}})
		}
		before, after := above(old[i].Saw), above(now[i].Saw)
		if before == after || sameButForOrder(before, after) {
			continue
		}
		all = append(all, difference{in.name, old[i].Did, changed(before, after)})
	}
	return all
}

// above replaces the directory above all scenes, which a program shows that looks for files in all directories above. The
// answers that are kept have that of another run.
func above(text string) string {
	return regexp.MustCompile(`[^\s"':=]*/fsmtx-oracle-[0-9a-f]{8}\b`).ReplaceAllString(text, "ABOVE")
}

// sameButForOrder reports whether two texts have the same lines, some of them of guards, whose
// logs tell whole seconds.
func sameButForOrder(old, now string) bool {
	if !regexp.MustCompile(`TIME +guard |source: "guard|\[TIME\] H\d\d`).MatchString(old) {
		return false
	}
	return slices.Equal(slices.Sorted(strings.Lines(old)), slices.Sorted(strings.Lines(now)))
}

// changed returns the lines that only one of two texts has, with - or + in front.
func changed(old, now string) (lines []string) {
	var gone, come []string
	flush := func() {
		lines, gone, come = append(lines, apart(gone, come)...), nil, nil
	}
	for line := range strings.Lines(string(diff.Diff("", []byte(old), "", []byte(now)))) {
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "--- " || line == "+++ ":
		case strings.HasPrefix(line, "-"):
			gone = append(gone, line)
		case strings.HasPrefix(line, "+"):
			come = append(come, line)
		default:
			flush()
		}
	}
	flush()
	return lines
}

// apart returns the lines of a place where a text differs without those that both have, in the same order: diff compares the
// lines only that a text has once.
func apart(gone, come []string) []string {
	longest := make([][]int, len(gone)+1) // common subsequence of what comes after
	for i := range longest {
		longest[i] = make([]int, len(come)+1)
	}
	for i := len(gone) - 1; i >= 0; i-- {
		for j := len(come) - 1; j >= 0; j-- {
			if longest[i][j] = max(longest[i+1][j], longest[i][j+1]); gone[i][1:] == come[j][1:] {
				longest[i][j] = longest[i+1][j+1] + 1
			}
		}
	}
	var left, right []string
	i, j := 0, 0
	for i < len(gone) && j < len(come) {
		switch {
		case gone[i][1:] == come[j][1:]:
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			left, i = append(left, gone[i]), i+1
		default:
			right, j = append(right, come[j]), j+1
		}
	}
	return slices.Concat(left, gone[i:], right, come[j:])
}

// A rule of differences.txt explains lines of differences.
type differenceRule struct {
	text, reason string
	input, line  *regexp.Regexp
	more         bool // what follows in the input, too, unless another rule explains it
	used         bool
}

// notGiven stands for the lines of an input that neither program is given.
const notGiven = "not given"

// andMore ends a rule that also explains what follows in the input.
const andMore = " => ..."

type differenceList struct {
	rules, leftOut []*differenceRule
	reasons        []string
	points, lines  map[string]int
	listed         strings.Builder
}

// readDifferences reads the list. A line that is not indented is a reason; below it each line is
// a pattern of the input and what was done, "=>", and a pattern of the lines that may differ there.
func readDifferences(t testing.TB, path string) *differenceList {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	list := &differenceList{points: map[string]int{}, lines: map[string]int{}}
	for line := range strings.Lines(string(text)) {
		body := strings.TrimSpace(line)
		where, what, is := strings.Cut(strings.TrimSuffix(body, andMore), " => ")
		switch {
		case body == "" || strings.HasPrefix(line, "#"):
		case line[0] != ' ':
			list.reasons = append(list.reasons, body)
		default:
			require.True(t, is, "%s: no => in %q", path, body)
			require.NotEmpty(t, list.reasons, path)
			rule := &differenceRule{text: body, reason: list.reasons[len(list.reasons)-1],
				input: regexp.MustCompile(where), line: regexp.MustCompile(what), more: strings.HasSuffix(body, andMore)}
			if what == notGiven {
				list.leftOut = append(list.leftOut, rule)
			} else {
				list.rules = append(list.rules, rule)
			}
		}
	}
	return list
}

// leavesOut reports whether the list has an input as one that is not given.
func (l *differenceList) leavesOut(input string) (out bool) {
	for _, r := range l.leftOut {
		if r.input.MatchString(input) {
			r.used, out = true, true
		}
	}
	return out
}

// explains returns the first rule that allows a line, nil if none does.
func (l *differenceList) explains(d difference, line string) *differenceRule {
	for _, r := range l.rules {
		if r.line.MatchString(line) && r.input.MatchString(d.input+": "+d.did) {
			return r
		}
	}
	return nil
}

// explained returns the rules that allow the lines of the differences of an input, nil for those that none does.
func (l *differenceList) explained(all []difference) (rules [][]*differenceRule) {
	var follows *differenceRule
	for _, d := range all {
		of := make([]*differenceRule, len(d.lines))
		for i, line := range d.lines {
			if of[i] = l.explains(d, line); follows == nil && of[i] != nil && of[i].more {
				follows = of[i]
			}
		}
		for i := range of {
			if of[i] == nil {
				of[i] = follows
			}
		}
		rules = append(rules, of)
	}
	return rules
}

// count counts the differences of an input by reason, and returns the lines that have none, by what was done.
func (l *differenceList) count(all []difference) map[string]string {
	unexplained := map[string]string{}
	for n, of := range l.explained(all) {
		d, reasons := all[n], map[string]bool{}
		for i, line := range d.lines {
			rule := "no reason"
			if of[i] == nil {
				unexplained[d.did] += line + "\n"
			} else {
				rule, of[i].used, reasons[of[i].reason] = of[i].text, true, true
				l.lines[of[i].reason]++
			}
			fmt.Fprintf(&l.listed, "%s\t%s: %s\t%s\n", rule, d.input, d.did, line)
		}
		for reason := range reasons {
			l.points[reason]++
		}
	}
	return unexplained
}

// report prints how much each reason explains, and their sum. After a whole run each rule must have been used.
func (l *differenceList) report(t *testing.T, inputs int, whole bool) {
	points, lines := 0, 0
	for _, reason := range l.reasons {
		t.Logf("%5d points %6d lines  %s", l.points[reason], l.lines[reason], reason)
		points += l.points[reason]
		lines += l.lines[reason]
	}
	t.Logf("%d inputs: %d points and %d lines differ, for %d reasons", inputs, points, lines, len(l.reasons))
	for _, r := range slices.Concat(l.rules, l.leftOut) {
		if whole && !r.used {
			t.Errorf("explains nothing any more: %s", r.text)
		}
	}
}

// oraclePrograms builds the oracle, once, in the user's cache, and returns its directory, which has
// its source, too.
func oraclePrograms(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	main, err := os.ReadFile("../../testdata/oracle/main.go.txt")
	require.NoError(t, err)
	dir := filepath.Join(cache, "fsmtx-oracle", oracleCommit[:12]+"-"+digest(main))
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o755))
	work, err := os.MkdirTemp(filepath.Dir(dir), "build-")
	require.NoError(t, err)
	defer os.RemoveAll(work)
	run := func(dir, script string, args ...string) {
		c := exec.Command("sh", append([]string{"-c", "set -e; " + script, "sh"}, args...)...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	run("../..", `git archive -o "$2/src.tar" "$1"; mkdir "$2/src"; tar -xf "$2/src.tar" -C "$2/src"; rm "$2/src.tar"; mkdir "$2/src/asked"`,
		oracleCommit, work)
	require.NoError(t, os.WriteFile(filepath.Join(work, "src/asked/main.go"), main, 0o644))
	run(filepath.Join(work, "src"), `go build -trimpath -buildvcs=false -ldflags=-w -o ../fsmtx ./asked; cp ../fsmtx ../fsmtx-mcp`)
	if err := os.Rename(work, dir); err != nil { // another run was first
		require.DirExists(t, dir, err.Error())
	}
	return dir
}

// A stamp tells whether a file was changed since it was looked at.
type stamp struct {
	info string
	text string
}

// changes describes the files that were created, changed or removed since the last call, with
// their paths in front of each line. It leaves out the state directories of lists, whose files are
// the program's own, and what is shown of them is asked for.
func (w *scene) changes(t testing.TB) string {
	now, lines := map[string]stamp{}, []string(nil)
	err := filepath.WalkDir(w.root, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(w.root, path)
		if base := filepath.Base(path); name == "bin" || base == ".tmp" || strings.HasSuffix(base, ".lock") {
			return skip(e)
		}
		if err != nil {
			return skip(e)
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		s := stamp{info: fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())}
		before, known := w.files[name]
		if info.IsDir() {
			s.info = info.Mode().String()
		}
		if s.text = before.text; !known || before.info != s.info {
			s.text = described(path, info)
			for _, line := range changed(before.text, s.text) {
				lines = append(lines, normal(name)+": "+line)
			}
		}
		now[name] = s
		if base := filepath.Base(path); info.IsDir() && strings.HasPrefix(base, ".") && strings.HasSuffix(base, ".fsmtx") {
			return fs.SkipDir
		}
		return nil
	})
	require.NoError(t, err)
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		if _, is := now[name]; !is {
			lines = append(lines, normal(name)+": removed")
		}
	}
	w.files = now
	return strings.Join(lines, "\n")
}

func skip(e fs.DirEntry) error {
	if e != nil && e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// described returns mode and content of a file.
func described(path string, info fs.FileInfo) string {
	text := info.Mode().String() + "\n"
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(path)
		return text + "-> " + normal(target) + "\n"
	case !info.Mode().IsRegular():
		return text
	case info.Size() > 1<<18:
		return text + "large\n"
	}
	data, err := os.ReadFile(path)
	switch {
	case err != nil:
		return text + err.Error() + "\n"
	case !utf8.Valid(data):
		return text + "no text\n"
	}
	return text + content(path, string(data)) + "\n"
}
