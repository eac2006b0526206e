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
// name: the name itself, or that of the only plugin's skill with this name in its
// frontmatter. It returns "" if the beginning of the transcript does not tell.
func ListedName(path, name string) string {
	f, err := safefile.Open(path, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close()
	var further []string
	for r := bufio.NewReaderSize(io.LimitReader(f, maxListing), chunkSize); ; {
		raw, err := r.ReadBytes('\n')
		if l, ok := parseListing(raw); ok {
			if slices.Contains(l.Names, name) {
				return name
			}
			further = append(further, l.withFurtherName(name)...)
		}
		if err != nil {
			break
		}
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

// withFurtherName returns the listed names of the skills with a further name that ends with a
// colon and name.
func (l listing) withFurtherName(name string) (all []string) {
	for _, listed := range l.Names {
		_, rest, _ := strings.Cut("\n"+l.Content, "\n- "+listed+" (")
		if further, _, ok := strings.Cut(rest, ")"); ok && strings.HasSuffix(further, ":"+name) {
			all = append(all, listed)
		}
	}
	return all
}
