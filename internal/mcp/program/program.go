// Package program has what fsmtx and fsmtx-mcp share: the command line of the MCP server,
// and where to find its program.
//
// The server is a separate program because the MCP library links net/http and encoding/gob,
// which would make every hook more than a quarter slower. This package links neither.
package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/hint"
)

// Name is the file name of the program.
const Name = "fsmtx-mcp"

// errMissing is returned by Find when the program is not found.
var errMissing = hint.New(Name+" is neither beside this program nor on PATH", "install it with "+Install)

// Install is the command that installs the program, for hints.
const Install = "go install github.com/fsmtx/fsmtx/cmd/" + Name + "@latest"

// Find returns the path of fsmtx-mcp: in the directory of this program, where it has the
// same version, or else on PATH.
//
// Errors: errMissing, and those of filepath.Abs.
func Find() (string, error) {
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), Name)); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(Name)
	if err != nil {
		return "", errMissing
	}
	return filepath.Abs(path)
}

// Flags are the flags of the server.
type Flags struct {
	Session     string        // id of the session whose list is served; empty means that of the environment
	Checks      bool          // run the checks of steps
	LockTimeout time.Duration // how long to wait for the list's locks
}

// Args returns the command-line arguments for these flags.
func (f Flags) Args() []string {
	checks := "off"
	if f.Checks {
		checks = "on"
	}
	args := []string{"--checks", checks, "--lock-timeout", f.LockTimeout.String()}
	if f.Session != "" {
		args = append(args, "--session", f.Session)
	}
	return args
}

const long = `Serves the steps of the current workflow to an agent, as tools of an MCP server on standard
input and output: workflow_status, workflow_begin, step_start, step_complete and step_skip.
They change the same task files as the client's TaskUpdate, and the same gates hold:
order, files, checks, approval. They are for models and agents without task tools.
workflow_begin does what "fsmtx begin" does. The resource fsmtx://current is what "fsmtx next"
prints; who subscribes to it hears of every change within a second. The prompt "work" is for
people, in clients that show prompts as commands: it begins with a skill's workflow, or goes on.

The list is that of the call, of --session, or of the session in CLAUDE_CODE_SESSION_ID.
Without these it is the list of the project (CLAUDE_PROJECT_DIR, else the working
directory), which is in fsmtx/tasks in XDG_STATE_HOME or ~/.local/state. If that has no
workflow, and the server was not started by another agent than Claude Code, it is the
newest list of the project, and every answer says so.

fsmtx plugin --mcp and fsmtx install --mcp register it.`

// Command returns the command of the server, which calls run with its flags.
func Command(run func(*cobra.Command, Flags) error) *cobra.Command {
	var f Flags
	var checks string
	c := &cobra.Command{
		DisableFlagsInUseLine: true,
		Use:                   "mcp [--session ID]",
		Short:                 "Serve a workflow's steps as tools of an MCP server",
		Long:                  long,
		Example:               "  fsmtx mcp\n  fsmtx mcp --session 0b54e1c2-7c1e-4a53-9d1a-2f0f4a1d5f10\n  claude mcp add fsmtx -- fsmtx mcp",
		Args:                  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if checks != "on" && checks != "off" {
				return fmt.Errorf("--checks: got %q, want on or off", checks)
			}
			if f.LockTimeout <= 0 {
				return fmt.Errorf("--lock-timeout: got %v, want a positive duration", f.LockTimeout)
			}
			f.Checks = checks == "on"
			return run(c, f)
		},
	}
	c.Flags().StringVar(&f.Session, "session", "", "serve the task list of this session `ID`")
	c.Flags().StringVar(&checks, "checks", "on", "run the checks that steps declare: on or off")
	c.Flags().DurationVar(&f.LockTimeout, "lock-timeout", 5*time.Second, "how long to wait for the task list's locks")
	return c
}
