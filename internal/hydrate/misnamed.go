package hydrate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// specName is the name of a workflow's file beside its SKILL.md.
const specName = "fsm.json"

// Misnamed is a file beside a SKILL.md that seems to be its workflow, under a name that is not read: nothing is enforced, and the
// author does not notice.
type Misnamed struct {
	Path string
	json bool // it can be renamed
	some bool // there are others in its folder
}

// Why says what is wrong, in one line.
func (m Misnamed) Why() string {
	if !m.json {
		return "is not read: a workflow is JSON without comments, in a file with the name " + specName
	}
	if m.some {
		return "is not read: the name has to be " + specName + ", and more than one file here may be it: keep one"
	}
	return "is not read: the name has to be " + specName
}

// Command returns the command that renames the file, "" if that is not enough.
func (m Misnamed) Command() string {
	if !m.json || m.some {
		return ""
	}
	return "mv " + shell.Join(m.Path, filepath.Join(filepath.Dir(m.Path), specName))
}

// MisnamedIn returns such files in the folder of a skill. A folder with an fsm.json has none.
func MisnamedIn(folder string) (found []Misnamed) {
	if _, err := os.Stat(filepath.Join(folder, specName)); err == nil || !safefile.IsFile(filepath.Join(folder, "SKILL.md")) {
		return nil
	}
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if !e.Type().IsRegular() || !seemsWorkflow(path) {
			continue
		}
		data, err := safefile.ReadFile(path, fsmspec.MaxBytes, 0)
		if err != nil {
			continue
		}
		isJSON := jsonx.Check(data, jsonx.Tolerant) == nil
		if isJSON && strings.HasPrefix(strings.ToLower(e.Name()), "workflow") && !hasSteps(data) {
			continue // of another program
		}
		found = append(found, Misnamed{Path: path, json: isJSON})
	}
	for i := range found {
		found[i].some = len(found) > 1
	}
	return found
}

// hasSteps reports whether a JSON text is an array, or an object with steps or tasks.
func hasSteps(data []byte) bool {
	members, err := jsonx.Members(data)
	return err != nil || members["steps"] != nil || members["tasks"] != nil
}

// seemsWorkflow reports whether a file beside a SKILL.md has a name that means its workflow, or is a valid one.
func seemsWorkflow(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	stem, end, _ := strings.Cut(name, ".")
	if slices.Contains([]string{"fsm", "workflow", "fsm-json", "fsm_json"}, stem) &&
		slices.Contains([]string{"", "json", "jsonc", "json5", "yaml", "yml", "toml", "txt", "json.txt", specName}, end) {
		return true
	}
	if !strings.HasSuffix(name, ".json") {
		return false
	}
	data, err := safefile.ReadFile(path, fsmspec.MaxBytes, 0)
	if err != nil {
		return false
	}
	spec, err := fsmspec.Parse(data)
	return err == nil && spec.Len() > 0
}
