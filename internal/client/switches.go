package client

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/internal/caller"
)

// Switches are the options on the client's command line that decide whether it runs hooks
// (fact 113, client 2.1.329), and whether it writes a transcript.
type Switches struct {
	Settings   string   // --settings: a file or a JSON object, "" without it
	Sources    []string // --setting-sources: some of user, project and local; nil without it
	Bare       bool
	SafeMode   bool
	Restricted bool

	NoPersistence bool // the client writes no transcript

	Resume string // --resume: the session that goes on or is forked, "" without it
}

// persists reports whether the client that runs this process as a hook writes the transcript
// that its events name. It does not with --no-session-persistence, nor with
// CLAUDE_CODE_SKIP_PROMPT_HISTORY in its environment, which hooks get (fact 166, client
// 2.1.329). If the client is unknown, persists returns true.
func persists(getenv func(string) (string, bool)) bool {
	if skip, _ := getenv("CLAUDE_CODE_SKIP_PROMPT_HISTORY"); IsTrue(skip) {
		return false
	}
	s, _ := ReadSwitches(getenv)
	return !s.NoPersistence
}

// IsTrue reports whether the client takes the value of a variable as true.
func IsTrue(value string) bool {
	return slices.Contains([]string{"1", "true", "yes", "on"}, strings.ToLower(strings.TrimSpace(value)))
}

// ReadSwitches returns the options of the client that runs this process as a hook or in the
// agent's shell. Errors are those of client.Read.
func ReadSwitches(getenv func(string) (string, bool)) (Switches, error) {
	args, err := client(getenv)
	if err != nil {
		return Switches{}, err
	}
	return parseSwitches(args), nil
}

// parseSwitches reads the options. args[0] is the program's name. Like parseDirs it does not know
// the client's other options.
func parseSwitches(args []string) (s Switches) {
	for i := 1; i < len(args) && args[i] != "--"; i++ {
		name, value, given := strings.Cut(args[i], "=")
		takes := name == "--settings" || name == "--setting-sources"
		if name == "--resume" || name == "-r" { // without a value the client shows a list
			takes = i+1 < len(args) && !isOption(args[i+1])
		}
		if takes && !given {
			if i++; i == len(args) {
				break
			}
			value = args[i]
		}
		switch name {
		case "--settings":
			s.Settings = value
		case "--setting-sources":
			s.Sources = []string{}
			for source := range strings.SplitSeq(value, ",") {
				if source = strings.TrimSpace(source); source != "" {
					s.Sources = append(s.Sources, source)
				}
			}
		case "--resume", "-r":
			s.Resume = value
		case "--bare":
			s.Bare = true
		case "--safe-mode":
			s.SafeMode = true
		case "--restricted":
			s.Restricted = true
		case "--no-session-persistence":
			s.NoPersistence = true
		}
	}
	return s
}

// client returns the arguments of the client's process.
func client(getenv func(string) (string, bool)) ([]string, error) {
	value, _ := getenv("CLAUDE_PID")
	pid, err := strconv.Atoi(value)
	if err != nil || pid <= 0 {
		return nil, errUnknown
	}
	args := caller.Arguments(pid)
	if args == nil {
		return nil, os.ErrProcessDone
	}
	return args, nil
}
