package client

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxListing bounds how much is read from the beginning of a transcript, in bytes, where the
// client lists the skills that the model may call.
const maxListing = 1 << 20

// listingAtMost bounds the wait for the first listing, of skills or of tools.
const listingAtMost = 500 * time.Millisecond

// Lists reports whether the client lists a skill by the name, so that the name is not one that only a frontmatter has. It
// returns false if the beginning of the transcript does not tell.
//
// The client writes the listing with the first prompt, and it may not have done so when the
// model's answer to that prompt came at once. promptID is the prompt_id of the event, which may
// be empty: while there is neither a listing nor this prompt, Lists reads the transcript
// again, for at most half a second, if the client writes it.
func Lists(path, promptID, name string) (lists bool) {
	if path == "" {
		return false
	}
	search(path, promptID, listingAtMost, func() (any bool) {
		lists, any = listsNow(path, name)
		return any
	})
	return lists
}

// listsNow reads the transcript once. any reports whether it has a listing.
func listsNow(path, name string) (lists, any bool) {
	f, err := safefile.Open(path, os.O_RDONLY)
	if err != nil {
		return false, false
	}
	defer f.Close()
	for r := bufio.NewReaderSize(io.LimitReader(f, maxListing), chunkSize); ; {
		raw, err := r.ReadBytes('\n')
		if names, ok := parseListing(raw); ok {
			if any = true; slices.Contains(names, name) {
				return true, true
			}
		}
		if err != nil {
			return false, any
		}
	}
}

// parseListing returns the names in an attachment in which the client lists skills (measured with
// 2.1.329, fact 147). It writes the first one with the user's first prompt, and further ones for
// skills that are added later.
func parseListing(raw []byte) (names []string, ok bool) {
	if head := raw[:min(len(raw), headBytes)]; !bytes.Contains(head, []byte(`"skill_listing"`)) {
		return nil, false
	}
	l, ok := parse(raw, "attachment")
	if !ok || l.IsSidechain || jsonx.StringMember(l.Attachment, "type") != "skill_listing" {
		return nil, false
	}
	_ = json.Unmarshal(jsonx.Member(l.Attachment, "names"), &names, jsonx.Tolerant) // without names it lists none
	return names, true
}
