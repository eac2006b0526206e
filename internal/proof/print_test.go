package proof

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func TestVerdictsArePrinted(t *testing.T) {
	all := []verdict{{File: "a.json", Holds: true, Skill: "ship", Signer: "me", Key: "k", Notes: []string{"old"}},
		{File: "b.json", Problems: []string{"not signed"}}, {Skill: "build", Problems: []string{"no statement"}}}
	for format, want := range map[string]string{
		"text": "a.json: holds: ship, signed by me (k)\na.json: note: old\nb.json: not signed\nbuild: no statement\n",
		"github": "a.json: holds: ship, signed by me (k)\n::warning file=a.json::old\n::error file=b.json::not signed\n" +
			"::error::no statement\n",
		"gitlab": "info a.json|blocker b.json|blocker p.json|",
	} {
		var out strings.Builder
		f := verifyFlags{format: &command.Choice{Value: format}}
		require.NoError(t, f.print(terminal.Streams{Out: &out}, all))
		got := out.String()
		if format == "gitlab" {
			got = ""
			for _, p := range forGitLab(all, "p.json") {
				got += p.Severity + " " + p.Location.Path + "|"
			}
		}
		assert.Equal(t, want, got, format)
	}
}

// TestFlagsThatExclude each other are refused before anything is read.
func TestFlagsThatExclude(t *testing.T) {
	s := terminal.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: os.LookupEnv, Caller: callers.Script}
	for _, args := range []string{"--key k --no-sign", "--tree --note", "--print --note", "--print -o f", "-o f --note"} {
		c := NewAttest(s)
		c.SetArgs(strings.Fields(args))
		c.SilenceErrors, c.SilenceUsage = true, true
		require.ErrorContains(t, c.Execute(), "none of the others can be", args)
	}
}
