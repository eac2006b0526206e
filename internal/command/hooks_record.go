package command

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/js"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newHooksRecord(s terminal.Streams) *cobra.Command {
	var flags hookFlags
	c := &cobra.Command{
		Use:   "record DIR",
		Short: "Print settings whose hooks write every event of a session to a file in DIR",
		Long: "Prints settings for the agent. With them, every event of a session is written to a file in DIR; the\n" +
			"agent is not affected otherwise. fsmtx hooks replay DIR fires the events again.",
		Example: example("fsmtx hooks record --dialect claude events > record.json", "claude --settings record.json"),
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := dialect.Named(flags.dialect)
			if err != nil {
				return err
			}
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			return printJSON(s.Out, recordingSettings(d, dir))
		},
	}
	flags.addDialect(c, "llxprt")
	return c
}

// recordingSettings returns settings with one hook for each event, which writes the event
// to a file. Only the owner may read the files, because events contain what the user and
// the model wrote.
func recordingSettings(d dialect.Dialect, dir string) jsontext.Value {
	var events js.Object
	for _, e := range d.Events {
		if slices.Contains(d.Unrecorded, e.Name) {
			continue
		}
		command := fmt.Sprintf(`umask 077; cat > %s/"$(date +%%Y%%m%%d-%%H%%M%%S)-$$-%s.json"`, shell.Quote(dir), e.Name)
		hook := js.Object{}.WithText("type", dialect.CommandType).WithText("command", command)
		group := js.Object{}.With("hooks", js.List([]jsontext.Value{hook.Raw()}))
		events = events.With(e.Name, js.List([]jsontext.Value{group.Raw()}))
	}
	return d.Settings.Switch.On().WithObject("hooks", events).Raw()
}

func newHooksReplay(s terminal.Streams) *cobra.Command {
	var flags hookFlags
	var update bool
	c := &cobra.Command{
		Use:   "replay DIR",
		Short: "Fire recorded events again and show what changed",
		Long: "Fires every event in DIR, in the order of the file names, and saves the results in DIR/results.json.\n" +
			"Later runs print the differences from the saved results; --update saves the new results.\n\n" +
			"--json prints an object with events (a number) and changed (an array of objects with event, was and\n" +
			"now; was and now are results as one line of JSON).\n\n" +
			"Exits with 1 if anything changed.",
		Example: example("fsmtx hooks replay --dialect claude events"),
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r := replay{flags: flags, dir: args[0], update: update}
			return r.run(c, s)
		},
	}
	flags.add(c)
	c.Flags().BoolVar(&update, "update", false, "save the new results")
	return c
}

// replay is one run over a directory of events.
type replay struct {
	flags  hookFlags
	dir    string
	update bool
}

// resultsFile is the file with the results, beside the events.
const resultsFile = "results.json"

func (r replay) run(c *cobra.Command, s terminal.Streams) error {
	files, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	var paths []string
	for _, f := range files {
		name := f.Name()
		if filepath.Ext(name) == ".json" && name != resultsFile && name[0] != '.' { // a killed replay leaves a hidden directory
			paths = append(paths, filepath.Join(r.dir, name))
		}
	}
	if len(paths) == 0 {
		return &exit{exitNo, fmt.Errorf("no events in %s", r.dir), "fsmtx hooks record prints settings that record events"}
	}
	before, known, err := r.read()
	if err != nil {
		return err
	}
	var processes hookProcesses
	now, differs := map[string]string{}, []replayed{}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		result, err := r.fire(c, s, path, &processes)
		if err := cmp.Or(err, processes.interrupted()); err != nil {
			return err
		}
		now[name] = result
		if was, ok := before[name]; known && was != result {
			if !ok {
				was = "not recorded"
			}
			differs = append(differs, replayed{name, was, result})
		}
	}
	if !known || r.update {
		if err := r.write(now); err != nil {
			return err
		}
	}
	if err := r.print(s, len(paths), differs); err != nil {
		return err
	}
	if len(differs) > 0 && !r.update {
		return &exit{code: exitNo}
	}
	return nil
}

// replayed is an event whose result has changed.
type replayed struct {
	Event string `json:"event"`
	Was   string `json:"was"`
	Now   string `json:"now"`
}

func (r replay) print(s terminal.Streams, events int, differs []replayed) error {
	if r.flags.json {
		return printJSON(s.Out, struct {
			Events  int        `json:"events"`
			Changed []replayed `json:"changed"`
		}{events, differs})
	}
	for _, d := range differs {
		if err := s.Printf("%s\n  was %s\n  now %s\n", d.Event, d.Was, d.Now); err != nil {
			return err
		}
	}
	return s.Printf("%s, %d changed\n", terminal.Count(events, "event"), len(differs))
}

// fire returns the result of an event as one line of JSON.
func (r replay) fire(c *cobra.Command, s terminal.Streams, path string, processes *hookProcesses) (string, error) {
	data, err := safefile.ReadFile(path, event.MaxBytes, 0)
	if err != nil {
		return "", err
	}
	e, err := event.Parse(data)
	if err != nil {
		return "", fmt.Errorf("%s:%w", path, err)
	}
	setup, err := r.flags.find(s, e.Cwd)
	if err != nil {
		return "", err
	}
	session := hooks.Session{ID: e.SessionID, Cwd: e.Cwd, Project: setup.project, TranscriptPath: e.TranscriptPath}
	result := setup.engine(s, session, processes).Fire(c.Context(), string(e.Name), hooks.Input{Fields: e.Raw})
	shown := struct {
		Hooks  int            `json:"hooks"`
		Policy jsontext.Value `json:",embed"`
	}{len(result.Results), result.Policy.Compact()}
	return string(js.Marshal(shown)), nil
}

// read returns the saved results; known is false if there are none.
func (r replay) read() (results map[string]string, known bool, err error) {
	path := filepath.Join(r.dir, resultsFile)
	data, err := safefile.ReadFile(path, event.MaxBytes, 0)
	if os.IsNotExist(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if err := json.Unmarshal(data, &results); err != nil {
		return nil, false, fmt.Errorf("%s: %w", path, err)
	}
	return results, true, nil
}

func (r replay) write(results map[string]string) error {
	data, err := json.Marshal(results, jsontext.Multiline(true), json.Deterministic(true))
	if err != nil {
		return err
	}
	return safefile.Write(filepath.Join(r.dir, resultsFile), append(data, '\n'), safefile.Exactly(0o600))
}
