package transcript

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxListing bounds how much is read from the beginning of a transcript, in bytes, where the
// client lists the skills that the model may call.
const maxListing = 4 << 20

// listingAtMost bounds the wait for the first listing, of skills or of tools.
const listingAtMost = 500 * time.Millisecond

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
//
// The client writes the listing with the first prompt, and it may not have done so when the
// model's answer to that prompt came at once. promptID is the prompt_id of the event, which may
// be empty: while there is neither a listing nor this prompt, ListedName reads the transcript
// again, for at most half a second, if the client writes it.
func ListedName(path, promptID, name string) string {
	if path == "" {
		return ""
	}
	listed, _ := await(path, listingAtMost, func() (string, bool) {
		listed, any := listedName(path, name)
		if any {
			return listed, false
		}
		_, stale := lastUserText(path, promptID)
		return "", stale
	})
	return listed
}

// listedName reads the transcript once. any reports whether it has a listing.
func listedName(path, name string) (listed string, any bool) {
	f, err := safefile.Open(path, os.O_RDONLY)
	if err != nil {
		return "", false
	}
	defer f.Close()
	var further, behind []string
	for r := bufio.NewReaderSize(io.LimitReader(f, maxListing), chunkSize); ; {
		raw, err := r.ReadBytes('\n')
		if l, ok := parseListing(raw); ok {
			if any = true; slices.Contains(l.Names, name) {
				return name, true
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
		return "", any
	}
	return further[0], any
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
