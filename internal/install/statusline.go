package install

import "github.com/fsmtx/fsmtx/internal/settings"

// wantedLine compares the status line in the file with the one that it should have, and adds what
// differs to the report about the hooks. A line that is kept stays as it is.
func (l Switch) wantedLine(data []byte, command string, about *settings.Report) (bool, error) {
	found, err := settings.InspectStatusLine(data, command)
	if err != nil && l != With {
		return false, nil // it is not ours
	}
	if err != nil {
		return false, err
	}
	wanted := found.State != settings.Absent
	if l != Kept {
		wanted = l == With
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
		return p.file.Data, nil
	}
	rest, err := settings.RemoveStatusLine(p.file.Data)
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
