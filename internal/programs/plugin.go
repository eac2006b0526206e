package programs

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

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

// Spell returns a text in which the commands of this program have the path by which a person can run it, if the program is part of a
// plugin and nothing else puts it on PATH: whoever has only installed the plugin has no fsmtx in a terminal.
func Spell(text []byte) []byte {
	const name = Fsmtx + " "
	if !bytes.Contains(text, []byte(name)) {
		return text
	}
	typed := inPlugin()
	if typed == "" {
		return text
	}
	var out []byte
	for {
		at := bytes.Index(text, []byte(name))
		if at < 0 {
			return append(out, text...)
		}
		word, _, _ := bytes.Cut(text[at+len(name):], []byte(" "))
		word = bytes.TrimRight(word, "\\n\"\n.,;:?)`'")
		out = append(out, text[:at]...)
		if (at == 0 || !bytes.ContainsRune([]byte("/-_."), rune(text[at-1]))) && isSpelt(word) {
			out = append(out, typed...)
		} else {
			out = append(out, Fsmtx...)
		}
		text = text[at+len(Fsmtx):]
	}
}

// isSpelt reports whether a word is a command that a text tells somebody to type.
func isSpelt(word []byte) bool {
	const all = " begin continue next start complete finish status step undo log init new validate fmt graph plan locate doctor install " +
		"recover attest verify report schema test statusline hooks guard mcp demo version help --help [command] [flags] "
	return strings.Contains(all, " "+string(word)+" ")
}

// inPlugin returns the path of the program of the plugin that this program is part of, "" if it is of none, if PATH has the program
// outside of the plugin, or if the path would need quotes.
func inPlugin() string {
	spelling.Do(func() { spelling.path = findInPlugin() })
	return spelling.path
}

// spelling is found when it is first needed.
var spelling struct {
	sync.Once
	path string
}

func findInPlugin() string {
	root := PluginRoot()
	if root == "" || strings.ContainsAny(root, " \t\"'\\$`&;|<>()") {
		return ""
	}
	found, err := exec.LookPath(Fsmtx)
	if rel, outside := filepath.Rel(root, found); err == nil && (outside != nil || !filepath.IsLocal(rel)) {
		return ""
	}
	self, err := Path() // PowerShell would open the script that has no suffix
	if err != nil {
		return ""
	}
	return filepath.Join(root, "bin", filepath.Base(self))
}

// PluginRoot returns the directory of the plugin that this program is part of, "" if it is of none.
func PluginRoot() string {
	self, err := Path()
	if err != nil {
		return ""
	}
	root := filepath.Dir(self)
	for range 2 { // bin, or bin/linux-amd64
		root = filepath.Dir(root)
		if _, err := os.Stat(filepath.Join(root, ".claude-plugin/plugin.json")); err == nil {
			return root
		}
	}
	return ""
}
