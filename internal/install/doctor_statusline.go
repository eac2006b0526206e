package install

import (
	"context"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/locator"
)

// statusLine reports a status line that hides the one of this program: the client runs that of the
// file with the highest precedence alone (fact 153, client 2.1.329).
func (d *doctor) statusLine(context.Context) (found []Fault, err error) {
	config, err := client.ConfigDir(d.Getenv)
	if err != nil {
		return nil, err
	}
	var hides string
	for _, path := range client.SettingsFiles(locator.OS{}, config, d.cwd) {
		data, err := safefile.ReadFile(path, settings.MaxBytes, 0)
		if err != nil {
			continue // reported already
		}
		l := settings.ReadStatusLine(data)
		switch {
		case l.Program != "" && hides != "":
			return []Fault{{Kind: "hooks", What: "the status line of this file hides the one of fsmtx in " + path, File: hides,
				Command: "fsmtx install --statusline"}}, nil
		case l.Program != "":
			return nil, nil
		case l.Set && hides == "":
			hides = path
		}
	}
	return nil, nil
}
