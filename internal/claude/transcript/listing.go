package transcript

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxListing bounds how much is read from the beginning of a transcript, in bytes, where the
// client lists the skills that the model may call.
const maxListing = 4 << 20

// listing is an attachment in which the client lists skills (measured with 2.1.329, fact
// 147). It writes the first one with the user's first prompt, and further ones for skills that
// are added later.
type listing struct {
	Type    string   `json:"type"`
	Names   []string `json:"names"`
	Content string   `json:"content"` // lines "- name: description" and "- name (further name): description"
}

// ListedName returns the name under which the client lists the skill that the model calls by
// name: the name itself, or that of the skill with this name in its frontmatter. If name has no
// colon and no skill has it, it returns the listed name of the only plugin's skill that has it
// behind the plugin's. It returns "" if the beginning of the transcript does not tell.
func ListedName(path, name string) string {
	f, err := safefile.Open(path, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close()
	var further, behind []string
	for r := bufio.NewReaderSize(io.LimitReader(f, maxListing), chunkSize); ; {
		raw, err := r.ReadBytes('\n')
		if l, ok := parseListing(raw); ok {
			if slices.Contains(l.Names, name) {
				return name
			}
			further = append(further, l.with("("+name+")")...)
			behind = append(behind, l.with(":"+name+")")...)
		}
		if err != nil {
			break
		}
	}
	if len(further) == 0 && !strings.Contains(name, ":") {
		further = behind
	}
	slices.Sort(further)
	if further = slices.Compact(further); len(further) != 1 {
		return ""
	}
	return further[0]
}

func parseListing(raw []byte) (found listing, ok bool) {
	if head := raw[:min(len(raw), headBytes)]; !bytes.Contains(head, []byte(`"skill_listing"`)) {
		return listing{}, false
	}
	l, ok := parse(raw, "attachment")
	if !ok || l.IsSidechain {
		return listing{}, false
	}
	err := json.Unmarshal(l.Attachment, &found, jsonx.Tolerant)
	return found, err == nil && found.Type == "skill_listing"
}

// with returns the listed names of the skills with a further name in parentheses that ends with
// text, which includes the closing one. A description may have any text, so the line has to be
// that of a listed name.
func (l listing) with(text string) (all []string) {
	content := "\n" + l.Content
	for at := 0; ; {
		i := strings.Index(content[at:], text)
		if i < 0 {
			return all
		}
		at += i + len(text)
		line, isLine := strings.CutPrefix(content[strings.LastIndexByte(content[:at], '\n')+1:at], "- ")
		listed, further, ok := strings.Cut(line, " (")
		if isLine && ok && strings.HasSuffix("("+further, text) && !strings.Contains(strings.TrimSuffix(further, ")"), ")") &&
			slices.Contains(l.Names, listed) {
			all = append(all, listed)
		}
	}
}
