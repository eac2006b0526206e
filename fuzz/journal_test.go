package fuzz_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
)

const (
	sibling       = ".claude/tasks/.s.fsmtx"
	transactionID = "n0000000001-20200101t000000-000000001-00000000"
)

// FuzzJournal recovers a list with a journal of any bytes, or of any body with the right
// checksum. If the journal is not trusted, nothing changes. If it is, nothing outside the
// list and its state directory changes, and nothing that was in the list is lost.
func FuzzJournal(f *testing.F) {
	sound := body(entry("4.json", "new 4"), entry("2.json", "old 2"))
	for _, seed := range []string{
		sound, sealed(sound), strings.ReplaceAll(sound, "2.json", "../../../outside/secret"),
		body(entry("1.json", "mine"), entry("4.json", "new 4")), body(entry("9.json", "x"), entry("1.json", "other")),
		body(entry(".lock.lock", ""), entry(".highwatermark", "7")), body(entry("1.json.lock", ""), entry(strings.Repeat("x", 255), "")),
		strings.Replace(sound, `"../s"`, `"../t"`, 1), strings.Replace(sealed(sound), " 4 ", " 3 ", 1), sealed(sound)[:200],
		strings.Replace(sound, `"label":""`, `"label":"","record":"r"`, 1),

		body(entry("a\\nb", "x"), entry("\\u0000", "x")), `{}`, `null`, ``,
	} {
		f.Add(true, []byte(seed))
		f.Add(false, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, seal bool, data []byte) {
		skipIfTooLong(t, data)
		if seal {
			data = []byte(sealed(string(data)))
		}
		checkJournal(t, data)
	})
}

func entry(name, text string) string {
	return fmt.Sprintf(`{"name":"%s","size":%d,"sha256":"%s","mode":416}`, name, len(text), digest(text))
}

func body(create, remove string) string {
	return fmt.Sprintf(`{"id":"%s","dir":"../s","time":"2020-01-01T00:00:00Z","label":"","creates":[%s],"deletes":[%s]}`,
		transactionID, create, remove)
}

func sealed(body string) string { return "fsmtx-journal 4 " + digest("4\n"+body) + "\n" + body }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// interrupted returns a home with a list in which an interrupted transaction has created
// 4.json and deleted 2.json.
func interrupted(t *testing.T, journal []byte) *home {
	h := newHome(t)
	h.write("outside/secret", []byte("old 2"))
	h.write(list+"/1.json", []byte("mine"))
	require.NoError(t, os.MkdirAll(h.path(sibling), 0o700))
	h.write(sibling+"/journal", journal)
	h.write(sibling+"/txn-"+transactionID+"/old/2.json", []byte("old 2"))
	h.write(sibling+"/txn-"+transactionID+"/new/4.json", []byte("new 4"))
	require.NoError(t, os.Link(h.path(sibling+"/txn-"+transactionID+"/new/4.json"), h.path(list+"/4.json")))
	return h
}

func checkJournal(t *testing.T, journal []byte) {
	ctx := context.Background()
	h := interrupted(t, journal)
	before, names := h.tree("."), h.names()
	seen, err := txn.Inspect(ctx, h.path(list))
	require.Equal(t, before, h.tree("."), "Inspect changed something")
	done, recovered := tasks.List{Dir: h.path(list)}.Recover(ctx)
	require.Equal(t, err == nil, recovered == nil, "inspected: %v, recovered: %v", err, recovered)
	require.Equal(t, before["outside/secret"], h.tree("outside")["outside/secret"])
	if recovered != nil {
		_, untrusted := errors.AsType[*txn.JournalError](recovered)
		require.True(t, untrusted, "%v", recovered)
		require.EqualError(t, err, recovered.Error())
		require.Equal(t, before, h.tree("."))
		h.checkSetAside(before)
		return
	}
	require.Equal(t, txn.RolledBack, done.Outcome)
	require.Equal(t, seen.Removed, done.Removed)
	require.Equal(t, seen.Restored, done.Restored)
	require.NoFileExists(t, h.path(sibling+"/journal"))
	for name := range h.names() {
		require.True(t, names[name] || name == "2.json", "%s was neither in the list nor deleted", name)
	}
	if !strings.Contains(string(journal), transactionID) {
		return // the journal is of another transaction, so the files of this one are removed as left over
	}
	kept := strings.Join(values(h.tree(".claude/tasks")), "\n")
	for _, text := range []string{"mine", "new 4", "old 2"} {
		named := strings.Contains(string(journal), digest(text)) // the journal has its digest, so the recovery may remove it
		require.True(t, named || strings.Contains(kept, `"`+text+`"`), "%s is lost", text)
	}
	if !strings.Contains(string(journal), "1.json") && !strings.Contains(string(journal), `\u`) {
		require.Equal(t, before[list+"/1.json"], h.tree(list)[list+"/1.json"])
	}
}

// checkSetAside checks that SetAside moves an untrusted journal away without changing the
// list, and that there is nothing to recover then.
func (h *home) checkSetAside(before map[string]string) {
	require.Len(h.t, must(txn.SetAside(context.Background(), h.path(list))), 2)
	for name, was := range before {
		if strings.HasPrefix(name, list+"/") || strings.HasPrefix(name, "outside/") {
			require.Equal(h.t, was, h.tree(filepath.Dir(name))[name])
		}
	}
	r, err := tasks.List{Dir: h.path(list)}.Recover(context.Background())
	require.NoError(h.t, err)
	require.Equal(h.t, txn.Clean, r.Outcome)
}

func (h *home) names() map[string]bool {
	entries := must(os.ReadDir(h.path(list)))
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	return names
}

func values(m map[string]string) (list []string) {
	for _, v := range m {
		list = append(list, v)
	}
	return list
}
