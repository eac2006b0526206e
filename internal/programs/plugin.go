package programs

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// PluginVersion is the path of the file in a plugin that has the version of fsmtx that wrote it, at most MaxVersion bytes.
const (
	PluginVersion = "bin/VERSION"
	MaxVersion    = 1 << 10
)

// Mismatch returns a sentence for the person if the program at the path, of this version, is in the
// plugin in root, and another version has written that plugin: its hooks may be older or newer than
// the program. Otherwise, and if that is not known, it is empty. Versions between releases are not
// compared: they depend on how a program was built.
func Mismatch(root, program, own string) string {
	rel, err := filepath.Rel(safefile.Resolve(root), safefile.Resolve(program))
	if root == "" || err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	data, err := safefile.ReadFile(filepath.Join(root, filepath.FromSlash(PluginVersion)), MaxVersion, 0)
	written := strings.TrimSpace(string(data))
	if err != nil || written == own || !isRelease(written) || !isRelease(own) {
		return ""
	}
	return fmt.Sprintf("the plugin in %s was written by fsmtx %s, but its program is fsmtx %s, so its hooks may not be those that the "+
		"program needs; its author can mend that with fsmtx plugin --force",
		message.Line(root), message.Line(written), message.Line(own))
}
