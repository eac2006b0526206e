package command

import (
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/claude/settings"
)

// lineChoice is whether the status line of the client shows the workflow.
type lineChoice struct {
	on   bool // --statusline, unless it is not given
	flag func() bool
}

func (c *lineChoice) flags(to *cobra.Command) {
	to.Flags().BoolVar(&c.on, "statusline", false, "show the workflow in the client's status line, beside the line that is there")
	c.flag = func() bool { return to.Flags().Changed("statusline") }
}

func (c *lineChoice) given() bool { return c.flag != nil && c.flag() }

// wanted compares the status line in the file with the one that it should have, and adds what
// differs to the report about the hooks. Without --statusline it stays as it is.
func (c *lineChoice) wanted(data []byte, command string, about *settings.Report) (bool, error) {
	found, err := settings.InspectStatusLine(data, command)
	if err != nil && !c.on {
		return false, nil // it is not ours
	}
	if err != nil {
		return false, err
	}
	wanted := found.State != settings.Absent
	if c.given() {
		wanted = c.on
	}
	switch {
	case wanted && found.State == settings.Absent && about.State != settings.Absent:
		differs(about, "statusLine: does not run fsmtx statusline")
	case wanted:
		differs(about, found.Why...)
	case found.State != settings.Absent:
		differs(about, "statusLine: runs fsmtx statusline, but should not with --statusline=false")
	}
	return wanted, nil
}

func differs(about *settings.Report, why ...string) {
	if len(why) > 0 {
		about.State, about.Why = settings.Outdated, append(about.Why, why...)
	}
}

// added returns the file with the hooks and, if it is wanted, the status line, which comes last.
func (p installPlan) added() ([]byte, error) {
	if p.report.State == settings.Installed {
		return p.data, nil
	}
	rest, err := settings.RemoveStatusLine(p.data)
	if err != nil {
		return nil, err
	}
	data, err := settings.Add(rest, p.hooks)
	if err != nil || !p.line {
		return data, err
	}
	return settings.AddStatusLine(data, p.command)
}

// removed returns the file without the status line and the hooks.
func (p installPlan) removed() ([]byte, error) {
	rest, err := settings.RemoveStatusLine(p.file.Data)
	if err != nil {
		return nil, err
	}
	return settings.Remove(rest, p.hooks)
}
