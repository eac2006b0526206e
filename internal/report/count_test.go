package report

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

var day = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// told is a log of runs.
type told struct {
	lines []decisions.Record
	now   time.Time
	base  decisions.Record
}

func (l *told) begin(list, digest string) {
	l.base = decisions.Record{Workflow: "release", Digest: digest, List: list, Run: 1, Project: "/p", Version: decisions.Version}
	r := l.base
	r.Source, r.Decision, r.Steps = decisions.Hydrate, "hydrated", 2
	l.add(r)
}

func (l *told) add(r decisions.Record) {
	if l.now.IsZero() {
		l.now = day
	}
	l.now = l.now.Add(time.Minute)
	r.Time = l.now
	l.lines = append(l.lines, r)
}

func (l *told) step(n int64, decision string, change func(*decisions.Record)) {
	r := l.base
	r.Source, r.Decision, r.Step, r.Place, r.To, r.Who = decisions.Step, decision, n, fmt.Sprint(n), "completed", "agent"
	r.Subject = "Step " + r.Place
	if change != nil {
		change(&r)
	}
	l.add(r)
}

func (l *told) text(t require.TestingT) string {
	var b strings.Builder
	for _, r := range l.lines {
		line, err := r.JSON()
		require.NoError(t, err)
		b.Write(append(line, '\n'))
	}
	return b.String()
}

func count(t require.TestingT, text string, since time.Time) (shown, damage) {
	c := newCounter(since, "")
	s := newSource("", strings.NewReader(text))
	require.NoError(t, c.merge(context.Background(), []*source{s}))
	return c.shown(true), s.damage
}

func printed(x shown) string {
	var b bytes.Buffer
	x.print(terminal.Streams{Out: &b, Err: io.Discard}, true)
	return b.String()
}

func passed(names ...string) func(*decisions.Record) {
	return func(r *decisions.Record) { r.Passed = names }
}

// release tells runs of a version: the check refuses every nth, and passes on the same content or on another.
func (l *told) release(digest string, runs, every int, content string) {
	for i := range runs {
		l.begin(fmt.Sprintf("/tasks/%s-%d", digest, i), digest)
		l.step(1, "allow", passed("produces"))
		if every > 0 && i%every == 0 {
			l.step(2, "deny", func(r *decisions.Record) { r.Gate, r.Content = "check", "a" })
		}
		l.step(2, "allow", func(r *decisions.Record) { r.Passed, r.Content, r.Finished = []string{"check"}, content, true })
	}
}

func TestVersionsStandSideBySide(t *testing.T) {
	var l told
	l.release("1111aaaa2222", 12, 2, "b")
	l.release("3333bbbb4444", 12, 0, "b")
	l.begin("/tasks/open", "3333bbbb4444")
	x, _ := count(t, l.text(t), time.Time{})
	text := printed(x)
	for _, line := range []string{
		`  version             1111aaaa                        3333bbbb`,
		`  runs                12                              13`,
		`  left open           0                               1`,
		`    refused: check    6 (then passed: 6 after a change)  never in 12 runs`,
		`  release: produces of #1 "Step 1": judged in 24 runs, and never refused`,
	} {
		assert.Contains(t, strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(line), " "))
	}
	assert.NotContains(t, text, "check of #2")
	assert.NotContains(t, text, "too few")
	for _, line := range []string{`ended 12 (100 %) 12 (92 %)`, `refusals in a run 0.5 0.0`} {
		assert.Contains(t, strings.Join(strings.Fields(text), " "), line)
	}
}

// TestANewVersionHidesNothing: what is known of the versions before is said until the new one tells more, with the version.
func TestANewVersionHidesNothing(t *testing.T) {
	var l told
	l.release("1111aaaa22221111", 12, 2, "a")
	l.begin("/tasks/new", "1111aaaa22222222")
	x, _ := count(t, l.text(t), time.Time{})
	require.Len(t, x.Findings, 2)
	assert.Equal(t, "1111aaaa22221111", x.Findings[0].Version)
	text := printed(x)
	assert.Contains(t, text, `produces of #1 "Step 1": judged in 12 runs, and never refused; `+
		`that is up to version 1111aaaa22221: none yet in 1111aaaa22222`)
	assert.Contains(t, text, `check of #2 "Step 2": 6 of 6 refusals wrong`)
	assert.Contains(t, strings.Join(strings.Fields(text), " "), "version 1111aaaa22221 1111aaaa22222")
}

func TestALineThatComesAgainCountsOnce(t *testing.T) {
	var l told
	l.release("1", 3, 2, "a")
	once, _ := count(t, l.text(t), time.Time{})
	twice, _ := count(t, l.text(t)+l.text(t), time.Time{})
	assert.Equal(t, once, twice)
}

// TestWhatIsNoRefusal: a check that could not run has not refused, and one that leads back has.
func TestWhatIsNoRefusal(t *testing.T) {
	var l told
	l.begin("/tasks/1", "1")
	exit := func(n int) func(*decisions.Record) {
		return func(r *decisions.Record) { r.Gate, r.Exit = "check", &n }
	}
	l.step(1, "deny", exit(127))
	l.step(1, "deny", exit(-1))
	l.step(1, "allow", func(r *decisions.Record) { exit(1)(r); r.Gate, r.Reopens, r.Content = "", []int64{1}, "a" })
	l.step(1, "allow", func(r *decisions.Record) { r.Passed, r.Content = []string{"check"}, "b" })
	l.step(2, "skip", nil)
	l.step(3, "allow", func(r *decisions.Record) {
		r.Others = []decisions.Other{{Run: 1, Step: 4, Place: "4", Subject: "Step 4", State: "not needed"}}
	})
	x, _ := count(t, l.text(t), time.Time{})
	steps := x.Skills[0].Versions[0].Steps
	require.Len(t, steps[0].Gates, 1)
	g := steps[0].Gates[0]
	assert.Equal(t, []int{2, 1, 1}, []int{g.Broken, g.Refused, g.Changed})
	assert.Equal(t, 1, steps[3].Without)
	text := printed(x)
	assert.Contains(t, text, "could not run: check")
	assert.Contains(t, text, "Gates that refused wrongly: none")
	assert.Contains(t, text, `#2 "Step 2": 1 time in 1 run`)
}

// TestHowARunStandsAtLast: each run is one of ended, open, undone, replaced, or goes on in another list, and counts once.
func TestHowARunStandsAtLast(t *testing.T) {
	var l told
	change := func(decision string, run int64, deleted, restored []int64) {
		r := l.base
		r.Source, r.Decision, r.Run, r.Deleted, r.Restored = decisions.Hydrate, decision, run, deleted, restored
		if decision == "undone" {
			r.Project = "" // as the history of a list has it
		}
		l.add(r)
	}
	stands := func() (all []int) {
		v, _ := count(t, l.text(t), time.Time{})
		one := v.Skills[0].Versions[0]
		return []int{one.Begun, one.Ended, one.Open, one.Replaced, one.Undone}
	}
	l.begin("/tasks/1", "1")
	change("hydrated", 10, []int64{1, 2}, nil)
	assert.Equal(t, []int{2, 0, 1, 1, 0}, stands())
	change("undone", 0, []int64{10}, []int64{1, 2})
	assert.Equal(t, []int{2, 0, 1, 0, 1}, stands())
	change("continued", 1, []int64{1, 2}, nil)
	l.base.List, l.base.Run, l.base.FromList, l.base.FromRun = "/tasks/2", 5, "/tasks/1", 1
	change("continued", 5, nil, nil)
	l.base.FromList = ""
	l.step(5, "allow", nil)
	assert.Equal(t, []int{2, 0, 1, 0, 1}, stands())
	l.step(6, "allow", func(r *decisions.Record) { r.Finished = true })
	assert.Equal(t, []int{2, 1, 0, 0, 1}, stands())
	l.base.FromList, l.base.FromRun = "/tasks/2", 5
	change("continued", 5, nil, nil) // of another machine, with the same paths: nothing goes round for ever
	assert.Equal(t, []int{2, 1, 0, 0, 1}, stands())
}

func TestARefusalThatPassesOnTheSameContentWasWrong(t *testing.T) {
	var l told
	l.release("1111aaaa2222", 9, 3, "a")
	x, _ := count(t, l.text(t), time.Time{})
	assert.Contains(t, printed(x), `release: check of #2 "Step 2": 3 of 3 refusals wrong `+
		`(3 passed on the next try on the same content) (too few to tell)`)
}

func TestWhatPersonsDid(t *testing.T) {
	var l told
	for i := range 10 {
		l.begin(fmt.Sprint("/tasks/", i), "1")
		l.step(1, "deny", func(r *decisions.Record) { r.Gate = "check" })
		l.step(1, "skip", func(r *decisions.Record) { r.Who, r.Why, r.Wrong = "person", "it hangs", i == 0 })
		l.step(2, "ask", func(r *decisions.Record) { r.Gate = "approval" })
		l.step(3, "allow", func(r *decisions.Record) { r.Who = "person" }) // in a terminal
		l.step(2, "allow", func(r *decisions.Record) { r.Who, r.Answer, r.Finished = "person", "yes", true })
	}
	x, _ := count(t, l.text(t), time.Time{})
	s := x.Skills[0].Versions[0].Steps
	assert.Equal(t, map[string]int{"skip": 10}, s[0].Past)
	assert.Equal(t, []string{"it hangs"}, s[0].Reasons)
	assert.Equal(t, 10, s[1].Asked)
	assert.Equal(t, 10, s[1].Yes)
	text := printed(x)
	assert.Contains(t, text, `release: check of #1 "Step 1": 1 of 10 refusals wrong (1 by a person's word)`+"\n")
	assert.Contains(t, text, `release: #1 "Step 1": 10 times in 10 runs (10 after a refusal of check)`+"\n")
	assert.Contains(t, text, `release: #1 "Step 1": 10 times in 10 runs`+"\n    because: it hangs (10 times)\n")
}

// TestWhoSaysThatAStepIsDoneHasNotSkippedIt: a person went past a step by either way, after a refusal or not, and skipped it by one.
func TestWhoSaysThatAStepIsDoneHasNotSkippedIt(t *testing.T) {
	var l told
	for i, digest := range []string{"1", "2"} {
		l.begin(fmt.Sprint("/tasks/", i), digest)
		if i == 0 {
			l.step(1, "deny", func(r *decisions.Record) { r.Gate = "check" })
		}
		l.step(1, "skip", func(r *decisions.Record) { r.Who, r.Why = "person", "it hangs" })
		l.step(2, "done", func(r *decisions.Record) { r.Who, r.Why = "person", "by hand" })
	}
	x, _ := count(t, l.text(t), time.Time{})
	_, lists, _ := strings.Cut(printed(x), "Steps that a person went past:\n")
	few := " (too few to tell)\n"
	assert.Equal(t, `  release: #1 "Step 1": 2 times in 2 runs (1 after a refusal of check)`+few+
		`  release: #2 "Step 2": 2 times in 2 runs`+few+
		"    because: by hand (2 times)\n\nSteps that are skipped most:\n"+
		`  release: #1 "Step 1": 2 times in 2 runs`+few+
		"    because: it hangs (2 times)\n", lists)
}

// TestAStepThatIsDoneForLinesHasTheSubjectOfItsDefinition, not that of the line which came first.
func TestAStepThatIsDoneForLinesHasTheSubjectOfItsDefinition(t *testing.T) {
	var l told
	l.begin("/tasks/1", "1")
	for i, line := range []string{"a", "b"} {
		l.step(int64(4+i), "skip", func(r *decisions.Record) {
			r.Place, r.Subject, r.Defined = "2.1", "Test "+line, "Test {item}"
		})
	}
	x, _ := count(t, l.text(t), time.Time{})
	assert.Contains(t, printed(x), `#2.1 "Test {item}": 2 times in 1 run`)
}

func TestWhatIsObservedIsAColumnOfItsOwn(t *testing.T) {
	var l told
	l.begin("/tasks/1", "1")
	l.step(1, "allow", func(r *decisions.Record) { r.Gate, r.Gaps = "check", []string{"observing"} })
	l.begin("/tasks/2", "1")
	l.step(1, "deny", func(r *decisions.Record) { r.Gate = "check" })
	x, _ := count(t, l.text(t), time.Time{})
	require.Len(t, x.Skills[0].Versions, 2)
	assert.True(t, x.Skills[0].Versions[0].Observing)
	for _, v := range x.Skills[0].Versions {
		assert.Equal(t, 1, v.Steps[0].Gates[0].Refused)
	}
	assert.Contains(t, printed(x), "1, observing")
}

// TestWhatIsNotReachedIsSaid: a gate behind one that would have refused was not judged.
func TestWhatIsNotReachedIsSaid(t *testing.T) {
	var l told
	l.begin("/tasks/1", "1")
	for _, gate := range []string{"produces", "order"} {
		l.step(1, "allow", func(r *decisions.Record) {
			r.Gate, r.Gaps, r.Unreached = gate, []string{"observing"}, []string{"check", "approval"}
		})
	}
	l.step(1, "allow", func(r *decisions.Record) { r.Gate, r.Gaps = "check", []string{"observing"} })
	x, _ := count(t, l.text(t), time.Time{})
	text := strings.Join(strings.Fields(printed(x)), " ")
	assert.Contains(t, text, "refused: check 1, not reached: 2 ")
	assert.Contains(t, text, "refused: approval not reached: 2 ")
	assert.NotContains(t, text, "refused: produces 1, not reached")
}

func TestSinceLeavesOutRunsThatBeganBefore(t *testing.T) {
	var l told
	l.begin("/tasks/1", "1")
	since := l.now.Add(time.Second)
	l.step(1, "allow", nil)
	l.begin("/tasks/2", "1")
	x, _ := count(t, l.text(t), since)
	assert.Equal(t, 1, x.Skills[0].Versions[0].Begun)
	assert.Empty(t, x.Skills[0].Versions[0].Steps)
}

func TestARunThatWasUndone(t *testing.T) {
	var l told
	l.begin("/tasks/1", "1")
	r := l.base
	r.Source, r.Decision, r.Deleted, r.Run = decisions.Hydrate, "undone", []int64{1, 2}, 0
	l.add(r)
	x, _ := count(t, l.text(t), time.Time{})
	assert.Equal(t, 1, x.Skills[0].Versions[0].Undone)
	assert.Equal(t, 0, x.Skills[0].Versions[0].Open)
}

// TestTheOrderOfLogsDoesNotMatter: a rotation cuts a run into two logs.
func TestTheOrderOfLogsDoesNotMatter(t *testing.T) {
	var l told
	l.release("1", 3, 1, "b")
	lines := strings.SplitAfter(l.text(t), "\n")
	older, newer := "\ufeff"+strings.Join(lines[:2], ""), strings.Join(lines[2:], "")
	whole, _ := count(t, l.text(t), time.Time{})
	for _, texts := range [][]string{{older, newer}, {newer, older}} {
		c := newCounter(time.Time{}, "")
		require.NoError(t, c.merge(context.Background(),
			[]*source{newSource("", strings.NewReader(texts[0])), newSource("", strings.NewReader(texts[1]))}))
		assert.Equal(t, whole, c.shown(true))
	}
}

// TestTwoMachinesWithTheSamePathsHaveTwoRuns, also if both are at work at once.
func TestTwoMachinesWithTheSamePathsHaveTwoRuns(t *testing.T) {
	for _, later := range []time.Duration{time.Hour, 90 * time.Second} {
		var one, other told
		one.release("1", 3, 0, "b")
		other.now = day.Add(later)
		other.release("1", 3, 0, "b")
		c := newCounter(time.Time{}, "")
		require.NoError(t, c.merge(context.Background(),
			[]*source{newSource("", strings.NewReader(one.text(t))), newSource("", strings.NewReader(other.text(t)))}))
		v := c.shown(false).Skills[0].Versions[0]
		assert.Equal(t, []int{6, 6, 0, 6}, []int{v.Begun, v.Ended, v.Open, v.Steps[0].Done}, later)
	}
}

func TestDamagedLinesAreCounted(t *testing.T) {
	var l told
	l.release("1", 3, 0, "a")
	whole, none := count(t, l.text(t), time.Time{})
	assert.Zero(t, none.Lines)
	text := strings.ReplaceAll(l.text(t), "\n", "\n"+strings.Repeat("x", longest+1)+"\n\n{\"time\":3}\n")
	damaged, d := count(t, text, time.Time{})
	assert.Equal(t, whole, damaged)
	assert.Equal(t, 2*len(l.lines), d.Lines)
	assert.Equal(t, 2, d.First)
	newer, d := count(t, strings.ReplaceAll(l.text(t), `"v":1`, `"v":99`), time.Time{})
	assert.Empty(t, newer.Skills)
	assert.Equal(t, "it was written by a newer version of fsmtx", d.Why)
}

// TestTheReportIsOfItsSchema: whatever the log has, in any order, nothing is fatal and the result is of the schema.
func TestTheReportIsOfItsSchema(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("report.json", document))
	schema, err := c.Compile("report.json")
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		var l told
		for range rapid.IntRange(0, 30).Draw(t, "lines") {
			if len(l.lines) == 0 || rapid.IntRange(0, 5).Draw(t, "begins") == 0 {
				l.begin(rapid.SampledFrom([]string{"/a", "/b"}).Draw(t, "list"),
					rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "digest"))
				continue
			}
			decision := rapid.SampledFrom([]string{"allow", "deny", "ask", "no", "skip", "done", "reopen", "end", "seen", "late", "chosen",
				"permit", "lapse", "called", "odd"}).Draw(t, "decision")
			l.step(rapid.Int64Range(1, 3).Draw(t, "step"), decision, func(r *decisions.Record) {
				r.To = rapid.SampledFrom([]string{"in_progress", "completed", ""}).Draw(t, "to")
				r.Gate = rapid.SampledFrom([]string{"", "check", "order", "outcome check"}).Draw(t, "gate")
				r.Passed = rapid.SliceOfN(rapid.SampledFrom([]string{"check", "produces"}), 0, 2).Draw(t, "passed")
				r.Finished = rapid.Bool().Draw(t, "finished")
				r.Gaps = rapid.SliceOfN(rapid.SampledFrom([]string{"observing", "checks off"}), 0, 2).Draw(t, "gaps")
			})
		}
		x, d := count(t, l.text(t), time.Time{})
		require.Zero(t, d.Lines)
		text, err := json.Marshal(x)
		require.NoError(t, err)
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		require.NoError(t, schema.Validate(value))
		for _, s := range x.Skills {
			for _, v := range s.Versions {
				assert.GreaterOrEqual(t, v.Begun, v.Ended)
			}
		}
		_ = printed(x)
	})
}

// TestPassedUnchanged: a gate that passes although its files are as they were did not pass after a change, nor has it refused wrongly.
func TestPassedUnchanged(t *testing.T) {
	var l told
	for i, unchanged := range [][]string{{"a.md"}, nil} {
		l.begin(fmt.Sprint("/tasks/", i), "d1")
		l.step(1, "deny", func(r *decisions.Record) { r.Gate, r.Unchanged = "produces", unchanged })
		l.step(1, "allow", func(r *decisions.Record) { r.Passed, r.Unchanged, r.Finished = []string{"produces"}, unchanged, true })
	}
	x, _ := count(t, l.text(t), time.Time{})
	text := printed(x)
	assert.Contains(t, text, "(then passed: 1 after a change, 1 unchanged)")
	assert.Contains(t, text, "Gates that refused wrongly: none")
}

// TestDoneIsDoneByWhateverWay: by a person's word, or because the time was up, as status and a statement count it. A person's no is no
// refusal of a rule, a choice was asked, and what is not enforced is what a statement has so: what lets something pass, not questions and
// refusals.
func TestDoneIsDoneByWhateverWay(t *testing.T) {
	var l told
	l.begin("/tasks/a", "1111")
	l.step(1, "done", func(r *decisions.Record) { r.Who = "person" })
	l.step(2, "late", func(r *decisions.Record) { r.Who = "clock" })
	gaps := func(r *decisions.Record) { r.Gaps = []string{"checks off"} }
	l.step(3, "ask", gaps)
	l.step(3, "declined", func(r *decisions.Record) { r.Answer = "no" })
	l.step(3, "ask", gaps)
	l.step(3, "allow", func(r *decisions.Record) { r.Answer = "yes"; gaps(r) })
	l.step(4, "answer", func(r *decisions.Record) { r.Answer, r.How = "a choice", "question" })
	l.step(5, "reopen", func(r *decisions.Record) { r.Who = "person" })
	for range 2 {
		l.step(6, "deny", func(r *decisions.Record) { r.Gate, r.Gaps = "order", []string{"unseen"} })
	}
	l.step(6, "deny", func(r *decisions.Record) { r.Gate, r.Gaps = "check", []string{"another way"} })
	l.step(6, "allow", func(r *decisions.Record) { r.How = "shell" })
	x, _ := count(t, l.text(t), time.Time{})
	text := strings.Join(strings.Fields(printed(x)), " ")
	for _, line := range []string{"#1 Step 1 1 done gone past: done 1", "#2 Step 2 1 done late 1", "asked 2 (1 yes, 1 no)",
		"asked 1 (1 chosen)", "not enforced 3 decisions", "by a person: reopen 1"} {
		assert.Contains(t, text, line)
	}
	assert.NotContains(t, text, "other rules")
}

// TestACallStartsAndEndsNothing is that the time of a step runs from its start, and that a call after it was skipped does not do it.
func TestACallStartsAndEndsNothing(t *testing.T) {
	var l told
	l.begin("/l", "d")
	start := func(r *decisions.Record) { r.To = "in_progress" }
	l.step(1, "allow", start)
	l.step(1, "allow", func(r *decisions.Record) { start(r); r.Rule = "Bash(git push *)" })
	l.step(1, "allow", nil)
	l.step(2, "skip", nil)
	l.step(2, "allow", func(r *decisions.Record) { r.Rule = "Bash(git push *)" })
	x, _ := count(t, l.text(t), time.Time{})
	assert.Equal(t, 120.0, x.Skills[0].Versions[0].Steps[0].Median)
	assert.Equal(t, 0, x.Skills[0].Versions[0].Steps[1].Done)
}
