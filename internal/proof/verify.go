package proof

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const verifyLong = `Verify exits with 0 if statements say, and what can be compared agrees: the owner of this key vouches
that, by the record of fsmtx on their machine, this workflow (at this path, with these bytes, nested
ones too) was followed to its end on this content, by this way; and here is all that was gone past.
The record is a file of the user's: who can write it and holds the key can sign anything.

It checks of what "fsmtx attest" has written: that an allowed signer has signed it and that
it was not changed since; that it is about this commit, or about one before it from which only paths
differ that the policy ignores; that the commit has this workflow; that every step of it is done, by a
decision in which its gates held, none was gone past, and the steps were enforced all the time; that the
last check passed on the content of this commit, or, if none has passed, that the run ended on it; and
the files that steps produced, as far as the commit has them. It needs no network and nothing that the
run has left on its machine.

--allowed-signers is a file as ssh-keygen reads it, by default git's gpg.ssh.allowedSignersFile. --policy
says what may be otherwise, and which skills a change needs. Both are read from the branch of
--from, such as origin/main. Without it they may not be files of the repository that is judged: that would
let a change say who may sign it.

It prints a line for each thing that does not hold, and a note for each that the policy let pass, or that
was not compared. --json, or --format json, prints an array with an
object for each file, and for each statement that is missing: file, holds, skill, signer, key, problems
and notes. --format github and gitlab print what these show in a pull request or merge request.

The exit code is 0 if everything holds, 1 if something does not, and 2 if a file cannot be read or the
command line is wrong.`

// exitUnread is the exit code for what cannot be read, and for a wrong command line.
const exitUnread = 2

type verifyFlags struct {
	commit, from, policy, allowed string
	note, json                    bool
	based                         bool // --from was given
	format                        *command.Choice
}

func NewVerify(s terminal.Streams) *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify [FILE…]",
		Short: "Check signed statements about runs of workflows",
		Long:  verifyLong,
		Example: command.Example("fsmtx verify release.intoto.json --allowed-signers ~/allowed_signers",
			"fsmtx verify --note --from origin/main --policy .fsmtx/policy.json --allowed-signers .fsmtx/allowed_signers"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.based = c.Flags().Changed("from"); f.json {
				f.format.Value = "json"
			}
			return f.run(c.Context(), s, args)
		},
	}
	c.Flags().StringVar(&f.commit, "commit", "HEAD", "the `COMMIT` that is judged")
	c.Flags().StringVar(&f.allowed, "allowed-signers", "", "the `FILE` that says whose key is whose")
	c.Flags().StringVar(&f.policy, "policy", "", "the `FILE` that says what has to hold")
	c.Flags().StringVar(&f.from, "from", "", "read both files from this `BRANCH`, into which the commit is to be merged")
	c.Flags().BoolVar(&f.note, "note", false, "also check the statements in the commit's note")
	f.format = command.Choose(c, "format", "how problems are printed", "text", "github", "gitlab", "json")
	c.Flags().BoolVar(&f.json, "json", false, "short for --format json")
	_ = c.MarkFlagFilename("allowed-signers")
	_ = c.MarkFlagFilename("policy")
	return c
}

// RefuseToVerify is the error of flags that cannot be used.
func RefuseToVerify(_ terminal.Streams, err error) error {
	return command.Fail(exitUnread, err, "run fsmtx verify --help")
}

func (f verifyFlags) run(ctx context.Context, s terminal.Streams, files []string) error {
	j, err := f.judge(ctx)
	if err != nil {
		return unread(err)
	}
	if len(files) == 0 && !f.note && len(j.policy.Skills) == 0 {
		return command.Fail(exitUnread, errors.New("no statement is named"), "name a file, or say --note")
	}
	all, code, err := f.verdicts(ctx, j, files)
	if err != nil {
		return unread(err)
	}
	if err := f.print(s, all); err != nil {
		return err
	}
	if code == command.ExitOK && slices.ContainsFunc(all, func(v verdict) bool { return !v.Holds }) {
		code = command.ExitNo
	}
	if code != command.ExitOK {
		return &command.Exit{Code: code}
	}
	return nil
}

// unread is the error of what cannot be read.
func unread(err error) error {
	return command.Fail(exitUnread, err, message.Hint(err))
}

// judge reads what statements are compared with.
func (f verifyFlags) judge(ctx context.Context) (j judge, err error) {
	cwd, err := os.Getwd()
	if err != nil {
		return j, err
	}
	j.now = time.Now()
	if j.in, err = openRepository(ctx, cwd); err != nil {
		return j, err
	}
	if j.commit, err = j.in.commit(ctx, f.commit); err != nil {
		return j, err
	}
	if f.based {
		if j.base, err = j.in.commit(ctx, f.from); err != nil {
			return j, err
		}
	}
	if f.policy != "" {
		data, err := f.trusted(ctx, j, f.policy)
		if err != nil {
			return j, err
		}
		if j.policy, err = parsePolicy(data); err != nil {
			return j, fmt.Errorf("%s: %w", f.policy, err)
		}
	}
	allowed := f.allowed
	if allowed == "" {
		if allowed, err = j.in.config(ctx, "gpg.ssh.allowedSignersFile"); err != nil {
			return j, err
		}
	}
	if allowed == "" {
		return j, message.WithHint(errors.New("nobody is known whose signature would count"),
			"name a file with --allowed-signers, or set git's gpg.ssh.allowedSignersFile; ssh-keygen(1), ALLOWED SIGNERS, describes it")
	}
	data, err := f.trusted(ctx, j, allowed)
	if err != nil {
		return j, err
	}
	j.signers = parseAllowed(data)
	return j, nil
}

// verdicts judges the files and the note. code says that one cannot be read.
func (f verifyFlags) verdicts(ctx context.Context, j judge, files []string) (all []verdict, code int, err error) {
	all = []verdict{}
	for _, file := range files {
		data, err := safefile.ReadFile(file, maxBytes, 0)
		if err != nil {
			all, code = append(all, unreadable(file, command.Unusable(file, err))), exitUnread
			continue
		}
		v, err := j.of(ctx, file, data)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, v)
	}
	if f.note {
		notes, err := j.in.notes(ctx, j.commit)
		if err != nil {
			return nil, 0, err
		}
		name := "note of " + short(j.commit)
		if len(notes) == 0 && len(j.policy.Skills) == 0 {
			all = append(all, unreadable(name, fmt.Errorf("the commit has no note with a statement: git fetch origin %s:%[1]s", noteRef)))
		}
		for _, data := range notes {
			v, err := j.of(ctx, name, data)
			if err != nil {
				return nil, 0, err
			}
			all = append(all, v)
		}
	}
	missing, err := j.missing(ctx, all)
	return append(all, missing...), code, err
}

func (f verifyFlags) print(s terminal.Streams, all []verdict) error {
	switch f.format.Value {
	case "json":
		return command.PrintJSON(s.Out, all)
	case "github":
		printForGitHub(s.Out, all)
	case "gitlab":
		return command.PrintJSON(s.Out, forGitLab(all, f.policy))
	default:
		for _, v := range all {
			v.print(s.Out)
		}
	}
	return nil
}

func (v verdict) print(to io.Writer) {
	v.printHolds(to)
	before := v.File
	if before == "" {
		before = cmp.Or(v.Skill, "policy")
	}
	for _, p := range v.Problems {
		message.Fprintf(to, "%s: %s\n", before, p)
	}
	for _, n := range v.Notes {
		message.Fprintf(to, "%s: note: %s\n", before, n)
	}
}

func (v verdict) printHolds(to io.Writer) {
	if v.Holds {
		message.Fprintf(to, "%s: holds: %s, signed by %s (%s)\n", v.File, v.Skill, v.Signer, v.Key)
	}
}

// printForGitHub prints workflow commands, and for the log what holds.
func printForGitHub(to io.Writer, all []verdict) {
	for _, v := range all {
		v.printHolds(to)
		for _, p := range v.Problems {
			message.Fprintf(to, "%s\n", message.GitHub("error", v.File, "", p))
		}
		for _, n := range v.Notes {
			message.Fprintf(to, "%s\n", message.GitHub("warning", v.File, "", n))
		}
	}
}

// codeProblem is one of GitLab's Code Quality report.
type codeProblem struct {
	Description string    `json:"description"`
	Check       string    `json:"check_name"`
	Fingerprint string    `json:"fingerprint"`
	Severity    string    `json:"severity"`
	Location    codePlace `json:"location"`
}

type codePlace struct {
	Path  string         `json:"path"`
	Lines map[string]int `json:"lines"`
}

// forGitLab returns a report. What is about no statement is about the policy.
func forGitLab(all []verdict, policy string) []codeProblem {
	found := []codeProblem{}
	add := func(v verdict, text, severity string) {
		sum := sha256.Sum256([]byte(v.File + "\n" + text))
		found = append(found, codeProblem{text, "fsmtx verify", hex.EncodeToString(sum[:]), severity,
			codePlace{cmp.Or(v.File, policy, "."), map[string]int{"begin": 1}}})
	}
	for _, v := range all {
		for _, p := range v.Problems {
			add(v, p, "blocker")
		}
		for _, n := range v.Notes {
			add(v, n, "info")
		}
	}
	return found
}

// words returns texts as a list for people.
func words(all []string) string {
	const most = 5
	if len(all) > most {
		return strings.Join(all[:most], ", ") + fmt.Sprintf(" and %d others", len(all)-most)
	}
	return strings.Join(all, ", ")
}
