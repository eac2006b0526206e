package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/claude/tasks"
	"github.com/fsmtx/fsmtx/internal/outline"
	"github.com/fsmtx/fsmtx/internal/rewrite"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/visible"
)

const newLong = `New writes a first fsm.json into the directory of a skill. It creates the directory if
necessary, and never overwrites an fsm.json.

Without a flag it reads the SKILL.md in that directory, if there is one. --from reads
another Markdown file. The items of a numbered list become the steps, each after the one
before. In a text without such a list the headings become the steps, or else the bullets.
The text below each becomes its description. If there is none of these, the fsm.json gets
three example steps to replace.

--from-session takes the tasks of a session's list, with their descriptions and
dependencies, but without their states and owners. Use it when an agent has built a good
list.

--self-contained also puts hooks into the frontmatter of the SKILL.md, for a skill that is
shared as a folder. A user who has fsmtx on PATH does not need "fsmtx install" for it. For
a user who does not, the hooks report that fsmtx is missing and tell the agent to follow
the fsm.json. The client runs such hooks when the agent calls the skill, not when a person
types its name. If there already is an fsm.json, only the hooks are added.

At the end new validates the file and prints the commands to use next.

--json prints an object with path and tasks (the number of tasks).`

type newFlags struct {
	from, session string
	json          bool
	selfContained bool
}

func newNew(s terminal.Streams) *cobra.Command {
	var f newFlags
	c := &cobra.Command{
		Use:   "new SKILL_DIR [--from FILE | --from-session ID] [--self-contained]",
		Short: "Write a first fsm.json for a skill",
		Long:  newLong,
		Example: example(
			"fsmtx new .claude/skills/release",
			"fsmtx new .claude/skills/release --from docs/releasing.md",
			"fsmtx new .claude/skills/release --self-contained",
			"fsmtx new .claude/skills/triage --from-session 0b54e1c2-7c1e-4a53-9d1a-2f0f4a1d5f10"),
		DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &exit{exitNo, fmt.Errorf("got %d arguments, want the directory of a skill", len(args)), "for example: fsmtx new .claude/skills/release"}
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), s, args[0]) },
	}
	c.Flags().StringVar(&f.from, "from", "", "take the steps from this Markdown `FILE`")
	c.Flags().StringVar(&f.session, "from-session", "", "take the tasks of this session `ID`")
	c.Flags().BoolVar(&f.selfContained, "self-contained", false, "also put hooks into the skill's SKILL.md")
	c.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	_ = c.MarkFlagFilename("from", "md")
	_ = c.RegisterFlagCompletionFunc("from-session", completeLists(s))
	c.MarkFlagsMutuallyExclusive("from", "from-session")
	c.MarkFlagsMutuallyExclusive("json", "self-contained")
	inDirectory(c, exitNo)
	return c
}

// maxMarkdown limits the size of a Markdown file.
const maxMarkdown = 4 << 20

func (f newFlags) run(ctx context.Context, s terminal.Streams, dir string) error {
	path := filepath.Join(dir, specName)
	_, err := os.Lstat(path)
	if f.selfContained {
		changed, failed := addSelfHooks(dir)
		if failed != nil {
			return failed
		}
		hooks := "already has the hooks"
		if changed {
			hooks = "added the hooks"
		}
		_ = s.Printf("%s: %s\n", filepath.Join(dir, "SKILL.md"), hooks)
		if err == nil && f.from == "" && f.session == "" {
			return nil
		}
	}
	if err == nil {
		return &exit{exitNo, fmt.Errorf("%s already exists and was not overwritten", path), "fsmtx graph " + dir + " draws it; fsmtx validate " + dir + " checks it"}
	}
	source, list, err := f.steps(ctx, s, dir)
	if err != nil {
		return err
	}
	text, err := rewrite.Format(outline.JSON(list))
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	if err := writeNew(path, text); err != nil {
		return err
	}
	v := validate(s, path)
	if v.err != nil {
		return v.err
	}
	if f.json {
		return printJSON(s.Out, struct {
			Path  string `json:"path"`
			Tasks int    `json:"tasks"`
		}{path, len(list)})
	}
	visible.Fprintf(s.Out, "%s: %s from %s\n", path, terminal.Count(len(list), "step"), source)
	printValidated(s, []validated{v})
	for _, t := range list {
		visible.Fprintf(s.Out, "  %d %s\n", t.ID, t.Subject)
	}
	s.Hintf("edit %s, then: fsmtx validate %s && fsmtx graph %s", path, dir, dir)
	if _, err := os.Lstat(filepath.Join(dir, "SKILL.md")); errors.Is(err, fs.ErrNotExist) {
		s.Hintf("the client finds a skill by its SKILL.md, which %s does not have yet", dir)
	}
	return nil
}

// writeNew creates a file and the directories above it. It returns fs.ErrExist if another
// program has created the file meanwhile.
func writeNew(path string, data []byte) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	file, err := safefile.ReadEdit(safefile.Resolve(abs), fsmspec.MaxBytes)
	if err == nil && file.Data != nil {
		err = &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	if err != nil {
		return err
	}
	file.Mode = 0o644
	return file.Replace(data, 0)
}

// steps returns the steps and a description of their source.
func (f newFlags) steps(ctx context.Context, s terminal.Streams, dir string) (source string, list []outline.Step, err error) {
	if f.session != "" {
		list, err = stepsOfSession(ctx, s, f.session)
		return "session " + f.session, list, err
	}
	source = f.from
	if source == "" {
		source = filepath.Join(dir, "SKILL.md")
	}
	text, err := safefile.ReadFile(source, maxMarkdown, 0)
	if errors.Is(err, fs.ErrNotExist) && f.from == "" {
		return "a template", outline.Template(), nil
	}
	if err != nil {
		return source, nil, err
	}
	list = outline.Markdown(text)
	if len(list) == 0 {
		return "a template, because there are no steps in " + source, outline.Template(), nil
	}
	if len(list) > fsmspec.MaxTasks {
		return source, nil, fmt.Errorf("%s has %d steps; a file may have at most %d", source, len(list), fsmspec.MaxTasks)
	}
	return source, list, nil
}

// stepsOfSession returns the tasks of a session's list with the numbers 1, 2, 3 and so on.
func stepsOfSession(ctx context.Context, s terminal.Streams, session string) ([]outline.Step, error) {
	dir, err := tasks.Dir(s.Getenv, session)
	if err != nil {
		return nil, err
	}
	found, err := tasks.Tasks(ctx, dir)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, &exit{exitNo, fmt.Errorf("the session %s has no tasks", session), "the lists are in " + filepath.Dir(dir)}
	}
	number := map[string]int64{}
	for i, t := range found {
		number[t.ID] = int64(i + 1)
	}
	var list []outline.Step
	for i, t := range found {
		step := outline.Step{ID: int64(i + 1), Subject: t.Subject, Description: t.Description, ActiveForm: t.ActiveForm}
		if step.Subject == "" {
			step.Subject = "Step " + strconv.Itoa(i+1)
		}
		for _, id := range t.BlockedBy {
			if n, known := number[id]; known {
				step.BlockedBy = append(step.BlockedBy, n)
			}
		}
		list = append(list, step)
	}
	return list, nil
}
