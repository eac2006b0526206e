package proof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/continuation"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const attestLong = `Attest writes a statement about the run of a workflow: an in-toto Statement in a DSSE envelope, signed
with an OpenSSH key. "fsmtx verify" checks it on any machine. It says which commit the work tree
has, what each step's gates evaluated, what persons answered, and what was gone past or not
enforced. It has no output, prompt, note, value or file content: digests only. docs/internals/attestation.md
describes it. The signature does not say that the record is true: who can write that, and holds the key,
can sign anything.

SKILL names the workflow; by default it is the last one that has ended. The session is found as by
"fsmtx status". Commit the work first: uncommitted changes are refused, unless --tree takes the
digest of the files as they are. What git was told not to look at is refused, too.

--key is a private key, or a public one (.pub) whose private half ssh-agent holds or is the file beside
it, of the type ed25519 or ecdsa; by default git's user.signingkey. The statement goes to standard output,
to a file with -o, or with --note into the git note of the commit in refs/notes/fsmtx.`

type attestFlags struct {
	session, out, key              string
	open, tree, print, note, force bool
	unsigned                       bool
}

func NewAttest(s terminal.Streams) *cobra.Command {
	var f attestFlags
	c := &cobra.Command{
		Use:               "attest [SKILL]",
		Short:             "Write a signed statement about the run of a workflow",
		Long:              attestLong,
		ValidArgsFunction: command.CompleteSkills(s),
		Args:              cobra.MaximumNArgs(1),
		Example: command.Example("fsmtx attest -o release.intoto.json", "fsmtx attest release --key ~/.ssh/id_ed25519.pub --note",
			"fsmtx attest --print"),
		RunE: func(c *cobra.Command, args []string) error {
			return f.run(c.Context(), s, strings.Join(args, ""))
		},
	}
	command.NameList(s, c, &f.session)
	c.Flags().StringVarP(&f.out, "output", "o", "", "write the statement to this `FILE`")
	c.Flags().BoolVar(&f.force, "force", false, "replace the file of -o if it exists")
	c.Flags().StringVar(&f.key, "key", "", "sign with the key in this `FILE`")
	c.Flags().BoolVar(&f.unsigned, "no-sign", false, "write the statement without a signature")
	c.Flags().BoolVar(&f.open, "open", false, "also for a workflow that has not ended")
	c.Flags().BoolVar(&f.tree, "tree", false, "name the tree of the files as they are, not the commit")
	c.Flags().BoolVar(&f.print, "print", false, "print what would be signed, and sign nothing")
	c.Flags().BoolVar(&f.note, "note", false, "add the statement to the git note of the commit")
	_ = c.MarkFlagFilename("output")
	_ = c.MarkFlagFilename("key")
	c.MarkFlagsMutuallyExclusive("key", "no-sign")
	c.MarkFlagsMutuallyExclusive("tree", "note")
	c.MarkFlagsMutuallyExclusive("print", "output", "note")
	return c
}

func (f attestFlags) run(ctx context.Context, s terminal.Streams, skill string) error {
	if _, err := os.Lstat(f.out); err == nil && !f.force {
		return command.Fail(command.ExitNo, fmt.Errorf("%s exists", f.out), "--force replaces it")
	}
	if dir := filepath.Dir(f.out); f.out != "" && !safefile.IsDir(dir) {
		return command.Fail(command.ExitNo, fmt.Errorf("%s cannot be written: %s is not a directory", f.out, dir),
			"make it; a relative path of -o counts from the directory of -C")
	}
	list, _, err := command.ChooseWay(ctx, s, f.session, true, func(dir, line string) (paste, note string) {
		runs, err := state.Runs(ctx, dir)
		if err != nil {
			return line, "" // which says why
		}
		switch _, _, err = f.choose(s, dir, runs, skill); {
		case err == nil:
			return line, ""
		case errors.Is(err, errNoRun):
			return "", ""
		}
		return "", ", but " + err.Error()
	}, nil)
	if err != nil {
		return err
	}
	if err := tasklist.Interrupted(ctx, s.Getenv, list.Dir); err != nil {
		return err
	}
	runs, err := state.Runs(ctx, list.Dir)
	if err != nil {
		return err
	}
	of, run, err := f.choose(s, list.Dir, runs, skill)
	if errors.Is(err, errNoRun) {
		err = command.OrThere(s, list.Dir, skill, err)
	}
	if err != nil {
		return err
	}
	at := place{store: state.ObjectsOf(list.Dir)}
	if at.repository, err = openRepository(ctx, of.Run().Dir); err != nil {
		return err
	}
	subject, err := f.subject(ctx, &at)
	if err != nil {
		return err
	}
	run.Tree = at.inTree
	files, err := at.bind(ctx, &run, of)
	if err != nil {
		return err
	}
	f.warn(ctx, s, at, run)
	return f.write(ctx, s, at, newStatement(subject, files, run))
}

// errNoRun is in the error that the list has no run, or none of the name.
var errNoRun = errors.New("is on record of this task list")

// choose returns the run to attest: the last one that has ended, if it has a name the last of this name.
func (f attestFlags) choose(streams terminal.Streams, dir string, runs []*state.State, skill string) (*state.State, Run, error) {
	var open *state.State
	for _, s := range slices.Backward(runs) {
		if skill != "" && s.Run().Command != skill {
			continue
		}
		run := Of(s, dir)
		if !run.Ended.IsZero() || f.open {
			return s, run, nil
		}
		open = cmp.Or(open, s)
	}
	if open != nil {
		hint := "--open attests it as it is; fsmtx verify does not accept that"
		if open.BringsBack(open.Steps[0]) != "" {
			hint = continuation.Line(streams.Getenv, open.Run().Command, dir, dir) + " brings its task files back; " + hint
		}
		return nil, Run{}, command.Fail(command.ExitNo, fmt.Errorf("%s has not ended: %v", open.Run().Command, open.Count().Sentence()), hint)
	}
	none := fmt.Errorf("no workflow %w", errNoRun)
	if skill != "" {
		none = fmt.Errorf("no workflow %s %w", skill, errNoRun)
	}
	return nil, Run{}, command.Fail(command.ExitNo, none, "fsmtx status --all lists the sessions with workflows")
}

// subject returns what the statement is about.
func (f attestFlags) subject(ctx context.Context, at *place) (Subject, error) {
	hidden, err := at.Hidden(ctx)
	if err != nil {
		return Subject{}, err
	}
	if len(hidden) > 0 {
		return Subject{}, command.Fail(command.ExitNo, fmt.Errorf("git does not look at all of the work tree: %s", words(hidden)),
			"git update-index --no-assume-unchanged and --no-skip-worktree FILE, git sparse-checkout disable; commit in submodules")
	}
	if f.tree {
		if at.tree, err = at.Tree(ctx, at.store); err != nil {
			return Subject{}, err
		}
		return treeSubject(at.tree), at.describe(ctx)
	}
	id, err := at.repository.commit(ctx, "HEAD")
	if err != nil {
		return Subject{}, command.Fail(command.ExitNo, fmt.Errorf("%s has no commit", at.Dir), "commit the work first; or --tree")
	}
	changed, err := at.Dirty(ctx)
	if err != nil {
		return Subject{}, err
	}
	if len(changed) > 0 {
		return Subject{}, command.Fail(command.ExitNo, fmt.Errorf("the work tree differs from its commit: %s", words(changed)),
			"commit the changes, or ignore them (.gitignore); or --tree takes the digest of the files as they are")
	}
	at.head = id
	at.tree, err = at.treeOf(ctx, id)
	return commitSubject(id), err
}

// warn says what verify will not accept.
func (f attestFlags) warn(ctx context.Context, s terminal.Streams, at place, r Run) {
	if r.FSM.Path == "" {
		s.Errorf("the fsm.json of %s is not in the repository %s, so fsmtx verify will not accept the statement", r.Skill, at.Dir)
	} else if at.head != "" {
		if sum, err := at.digestOf(ctx, at.head, r.FSM); err != nil || sum != r.FSM.SHA256 {
			s.Errorf("%s is not in the commit as the run had it, so fsmtx verify will not accept the statement", r.FSM.Path)
		}
	}
}

func (f attestFlags) write(ctx context.Context, s terminal.Streams, at place, st Statement) error {
	if f.print {
		text, err := st.encode()
		if err != nil {
			return err
		}
		return command.WriteJSON(s.Out, text)
	}
	var text []byte
	var err error
	if f.unsigned {
		text, err = seal(st, nil)
	} else {
		signer, done, failed := findKey(ctx, at.repository, f.key, s.Env)
		if failed != nil {
			return failed
		}
		defer done()
		text, err = seal(st, signer)
	}
	if err != nil {
		return err
	}
	if f.note {
		if err := at.addNote(ctx, at.head, st.Predicate.ID, text); err != nil {
			return err
		}
		s.Errorf("added to the note of %s; git push origin %s", short(at.head), noteRef)
	}
	switch {
	case f.out != "":
		return safefile.Write(f.out, text, safefile.LessUmask(0o666))
	case !f.note:
		_, err = s.Out.Write(text)
	}
	return err
}
