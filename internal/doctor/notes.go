package doctor

import (
	"fmt"
	"path/filepath"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// Notes returns what else somebody has to know who works in dir with Claude Code, where nothing is wrong: by what a session
// works on steps, and that there is no workflow.
func Notes(s terminal.Streams, dir string) (notes []string) {
	d := &doctor{Streams: s, cwd: dir}
	h, _, err := d.look()
	if err != nil || !h.isInstalled() {
		return nil
	}
	l, err := hydrate.FinderOf(s.Getenv, s.Who().Program)
	if err != nil {
		return nil
	}
	if all, _ := l.Workflows(dir); len(all) == 0 {
		notes = append(notes, "no skill here has an fsm.json beside its SKILL.md, so nothing is enforced: fsmtx init writes one")
	}
	return append(notes, "a session works "+install.Works(s.Getenv, dir))
}

// otherwiseNamed reports workflows beside a SKILL.md under a name that is not read, where there is no fsm.json.
func otherwiseNamed(skills []locator.Skill) (found []Fault) {
	for _, k := range skills {
		if isFile(filepath.Join(k.Folder, specName)) {
			continue
		}
		files, _ := filepath.Glob(filepath.Join(k.Folder, "*.json"))
		for _, file := range files {
			data, err := safefile.ReadFile(file, fsmspec.MaxBytes, 0)
			if err != nil {
				continue
			}
			if spec, err := fsmspec.Parse(data); err == nil && spec.Len() > 0 {
				found = append(found, Fault{Kind: "workflow", What: fmt.Sprintf("is not read: the name has to be %s", specName), File: file,
					Command: "mv " + shell.Join(file, filepath.Join(k.Folder, specName))})
			}
		}
	}
	return found
}
