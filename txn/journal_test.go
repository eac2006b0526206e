package txn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

var reasons = []error{ErrJournalTorn, ErrJournalVersion, ErrJournalForeign, ErrJournalInvalid}

func isReason(err error) bool {
	for _, reason := range reasons {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// TestJournalWithAnyByteChangedIsRejected tries every truncation, and every value of
// every byte.
func TestJournalWithAnyByteChangedIsRejected(t *testing.T) {
	w := newWorld(t)
	for n := range w.journal {
		_, err := parseJournal(w.journal[:n], "../list")
		require.True(t, isReason(err), "the first %d bytes: %v", n, err)
	}
	data := append([]byte(nil), w.journal...)
	for i, was := range w.journal {
		for b := range 256 {
			if data[i] = byte(b); data[i] == was {
				continue
			}
			_, err := parseJournal(data, "../list")
			require.True(t, isReason(err), "%q as byte %d: %v", b, i, err)
		}
		data[i] = was
	}
	_, err := parseJournal(data, "../list")
	require.NoError(t, err, "the journal itself is valid")
}

// requireUntrusted fails unless Recover, Inspect and Open report the journal as
// untrusted, with the same error, and change nothing.
func (w *world) requireUntrusted(t *testing.T) *JournalError {
	t.Helper()
	ctx := context.Background()
	before := tree(t, w.root, lockFileName)
	_, err := Recover(ctx, w.d)
	found, ok := errors.AsType[*JournalError](err)
	require.True(t, ok, "recovered: %v", err)
	require.True(t, isReason(found), "%v", found)
	require.Equal(t, w.in(journalName), found.Path)
	_, err = Inspect(ctx, w.d)
	require.EqualError(t, err, found.Error(), "inspected")
	_, err = Open(ctx, w.d)
	require.EqualError(t, err, found.Error(), "opened")
	require.Equal(t, before, tree(t, w.root, lockFileName))
	return found
}

// forged is a journal that this package did not write. Except in the first group its
// checksum is right.
type forged struct {
	name   string
	make   func(w *world) []byte
	reason error
}

// with replaces a part of the body of the journal.
func with(old, new string) func(w *world) []byte {
	return func(w *world) []byte {
		body := w.body()
		if !strings.Contains(body, old) {
			panic(old)
		}
		return sealed(strings.Replace(body, old, new, 1))
	}
}

func withBody(text string) func(w *world) []byte {
	return func(*world) []byte { return sealed(text) }
}

// deleted gives a file that the journal deletes another name, in JSON.
func deleted(name string) func(w *world) []byte {
	return func(w *world) []byte {
		return sealed(strings.Replace(w.body(), `"name":"2.json"`, `"name":`+name, 1))
	}
}

// created gives a file that the journal creates another name, in JSON.
func created(name string) func(w *world) []byte {
	return func(w *world) []byte {
		return sealed(strings.Replace(w.body(), `"name":"4.json"`, `"name":`+name, 1))
	}
}

// head gives the journal another beginning, up to the checksum.
func head(text string) func(w *world) []byte {
	return func(w *world) []byte {
		return []byte(text + checksum([]byte(w.body())) + "\n" + w.body())
	}
}

var forgeries = []forged{
	{"version 0", head("fsmtx-journal 0 "), ErrJournalVersion},
	{"version 3", head("fsmtx-journal 3 "), ErrJournalVersion},
	{"version 5", head("fsmtx-journal 5 "), ErrJournalVersion},
	{"version 5 with another shape", head("fsmtx-journal 5 x y z "), ErrJournalVersion},
	{"version 5 without a checksum", func(*world) []byte { return []byte("fsmtx-journal 5\n{}") }, ErrJournalVersion},
	{"version 4 without a checksum", func(*world) []byte { return []byte("fsmtx-journal 4\n{}") }, ErrJournalTorn},
	{"another shape", head("fsmtx-journal 4 x "), ErrJournalTorn},
	{"version 04", head("fsmtx-journal 04 "), ErrJournalVersion},
	{"no version", head("fsmtx-journal  "), ErrJournalVersion},
	{"another program's", head("raft-journal 1 "), ErrJournalTorn},
	{"byte order mark", head("\ufefffsmtx-journal 4 "), ErrJournalTorn},
	{"two spaces", head("fsmtx-journal 4  "), ErrJournalTorn},
	{"upper-case checksum", func(w *world) []byte {
		return []byte("fsmtx-journal 4 " + strings.ToUpper(checksum([]byte(w.body()))) + "\n" + w.body())
	}, ErrJournalTorn},
	{"line feed after a carriage return", func(w *world) []byte { return []byte(strings.Replace(string(w.journal), "\n", "\r\n", 1)) },
		ErrJournalTorn},
	{"something after it", func(w *world) []byte { return append(w.journal[:len(w.journal):len(w.journal)], '\n') }, ErrJournalTorn},
	{"twice", func(w *world) []byte { return append(w.journal[:len(w.journal):len(w.journal)], w.journal...) }, ErrJournalTorn},
	{"empty", func(*world) []byte { return nil }, ErrJournalTorn},
	{"NUL", func(*world) []byte { return make([]byte, 4096) }, ErrJournalTorn},

	{"of another list", with(`"../list"`, `"../other"`), ErrJournalForeign},
	{"of D by another way", with(`"../list"`, `"../../tasks/list"`), ErrJournalForeign},
	{"of D with a slash", with(`"../list"`, `"../list/"`), ErrJournalForeign},
	{"of all lists", with(`"../list"`, `".."`), ErrJournalForeign},
	{"of S", with(`"../list"`, `"."`), ErrJournalForeign},
	{"of an absolute path", with(`"../list"`, `"/"`), ErrJournalForeign},
	{"of nothing", with(`"dir":"../list",`, ``), ErrJournalForeign},

	{"empty body", withBody(``), ErrJournalInvalid},
	{"null", withBody(`null`), ErrJournalInvalid},
	{"empty object", withBody(`{}`), ErrJournalInvalid},
	{"array", withBody(`[]`), ErrJournalInvalid},
	{"number", withBody(`1e400`), ErrJournalInvalid},
	{"nesting bomb", withBody(strings.Repeat("[", 1<<20)), ErrJournalInvalid},
	{"nesting bomb in a member", with(`"label":"a label"`, `"label":`+strings.Repeat(`{"a":`, 1<<18)), ErrJournalInvalid},
	{"unknown member", with(`"label"`, `"extra":1,"label"`), ErrJournalInvalid},
	{"unknown member of an entry", with(`"size"`, `"path":"/etc/passwd","size"`), ErrJournalInvalid},
	{"member twice", with(`"label"`, `"dir":"../list","label"`), ErrJournalInvalid},
	{"invalid UTF-8", with(`a label`, "a\xff"), ErrJournalInvalid},
	{"half a surrogate pair", with(`a label`, `\ud800`), ErrJournalInvalid},
	{"creates is an object", with(`"creates":[`, `"creates":{},"x":[`), ErrJournalInvalid},
	{"an entry is null", with(`"creates":[`, `"creates":[null,`), ErrJournalInvalid},

	{"id missing", func(w *world) []byte { return with(`"id":"`+w.id+`",`, ``)(w) }, ErrJournalInvalid},
	{"id leads out", func(w *world) []byte { return with(w.id, `x/../../../outside`)(w) }, ErrJournalInvalid},
	{"id is two dots", func(w *world) []byte { return with(w.id, `..`)(w) }, ErrJournalInvalid},
	{"id with NUL", func(w *world) []byte { return with(w.id, `a\u0000b`)(w) }, ErrJournalInvalid},
	{"id too long", func(w *world) []byte { return with(w.id, strings.Repeat("a", 65))(w) }, ErrJournalInvalid},

	{"deletes another file than has a backup", deleted(`"1.json"`), ErrJournalInvalid},
	{"deletes nothing that has a backup", func(w *world) []byte {
		body := w.body()
		return sealed(body[:strings.Index(body, `"deletes"`)] + `"deletes":null}`)
	}, ErrJournalInvalid},
	{"deletes ../x", deleted(`"../../outside/secret"`), ErrJournalInvalid},
	{"deletes ..", deleted(`".."`), ErrJournalInvalid},
	{"deletes .", deleted(`"."`), ErrJournalInvalid},
	{"deletes the empty name", deleted(`""`), ErrJournalInvalid},
	{"deletes an absolute path", deleted(`"/outside/secret"`), ErrJournalInvalid},
	{"deletes below D", deleted(`"sub/2.json"`), ErrJournalInvalid},
	{"deletes with NUL", deleted(`"2.json\u0000"`), ErrJournalInvalid},
	{"deletes a name too long", deleted(`"` + strings.Repeat("2", 256) + `"`), ErrJournalInvalid},
	{"deletes a name twice", deleted(`"3.json"`), ErrJournalInvalid},
	{"deletes what it creates", deleted(`"4.json"`), ErrJournalInvalid},
	{"deletes a number", deleted(`2`), ErrJournalInvalid},
	{"creates ../x", created(`"../../outside/dir/4.json"`), ErrJournalInvalid},
	{"creates an absolute path", created(`"/etc/passwd"`), ErrJournalInvalid},
	{"creates a name twice", created(`"5.json"`), ErrJournalInvalid},
	{"creates with NUL", created(`"\u0000"`), ErrJournalInvalid},

	{"negative size", with(`"size":5`, `"size":-1`), ErrJournalInvalid},
	{"size past the limit", with(`"size":5`, `"size":67108865`), ErrJournalInvalid},
	{"size past int64", with(`"size":5`, `"size":9223372036854775808`), ErrJournalInvalid},
	{"size with a fraction", with(`"size":5`, `"size":5.5`), ErrJournalInvalid},
	{"mode with setuid", with(`"mode":416`, `"mode":8389024`), ErrJournalInvalid},
	{"mode of a directory", with(`"mode":416`, `"mode":2147484096`), ErrJournalInvalid},
	{"digest too short", with(digest([]byte("old 2")), digest([]byte("old 2"))[1:]), ErrJournalInvalid},
	{"digest of other letters", with(digest([]byte("old 2")), strings.Repeat("z", 64)), ErrJournalInvalid},
	{"time that is not one", with(`"time":"`, `"time":"x`), ErrJournalInvalid},
	{"a hundred thousand entries", hundredThousand, ErrJournalInvalid},
}

func hundredThousand(w *world) []byte {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, `{"name":"x%d","size":5,"sha256":"%s","mode":420},`, i, digest([]byte("new 4")))
	}
	return sealed(strings.Replace(w.body(), `"creates":[`, `"creates":[`+b.String(), 1))
}

// TestForgedJournalIsNotActedOn, and can be set aside.
func TestForgedJournalIsNotActedOn(t *testing.T) {
	for _, f := range forgeries {
		t.Run(strings.ReplaceAll(f.name, " ", "-"), func(t *testing.T) {
			w := newWorld(t)
			w.setJournal(t, f.make(w))
			assert.ErrorIs(t, w.requireUntrusted(t), f.reason)
			w.requireSetAside(t)
			moved, err := SetAside(t.Context(), w.d)
			require.NoError(t, err)
			require.Empty(t, moved, "there is no journal any more")
		})
	}
}

// TestJournalMustBeARegularFile: no function blocks on a pipe or follows a link.
func TestJournalMustBeARegularFile(t *testing.T) {
	for _, what := range []string{"directory", "FIFO", "socket", "link journal", "link nothing", "large"} {
		t.Run(strings.ReplaceAll(what, " ", "-"), func(t *testing.T) {
			w := newWorld(t)
			w.plant(t, "../../outside/journal journal")
			w.plant(t, "journal "+what)
			assert.ErrorIs(t, w.requireUntrusted(t), ErrJournalInvalid)
			w.requireSetAside(t)
		})
	}
}

// requireSetAside fails unless SetAside moves an untrusted journal away without changing D,
// and D can be used afterwards.
func (w *world) requireSetAside(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	before, outside := tree(t, w.d), tree(t, w.path("outside"))
	moved, err := SetAside(ctx, w.d)
	require.NoError(t, err)
	require.NotEmpty(t, moved)
	for _, path := range moved {
		require.Equal(t, w.in(quarantineName), filepath.Dir(filepath.Dir(path)))
		_, err := os.Lstat(path)
		require.NoError(t, err, "the path that it returned")
	}
	r := recovered(t, w.d)
	require.Equal(t, Report{Outcome: Clean}, r)
	require.Equal(t, before, tree(t, w.d))
	require.Equal(t, outside, tree(t, w.path("outside")))
	d, err := Open(ctx, w.d)
	require.NoError(t, err)
	require.NoError(t, d.Commit(ctx, Change{Creates: []File{{"9.json", []byte("new 9"), 0o644}}}))
	require.NoError(t, d.Close())
	require.NoError(t, os.Remove(filepath.Join(w.d, "9.json")))
}

func TestTrustedJournalIsNotSetAside(t *testing.T) {
	w := newWorld(t)
	before := tree(t, w.root, lockFileName)
	_, err := SetAside(context.Background(), w.d)
	require.ErrorIs(t, err, ErrJournalTrusted)
	assert.Equal(t, before, tree(t, w.root, lockFileName))
}

// TestJournalAcceptsItsLimits, so that recovery reads what Commit writes.
func TestJournalAcceptsItsLimits(t *testing.T) {
	valid := func(n int) *journal {
		j := &journal{ID: otherID, Dir: "../list"}
		for i := range n {
			e := entry{Name: fmt.Sprint(i), SHA256: digest(nil)}
			if i == 1 { // creates and deletes count together
				j.Deletes = append(j.Deletes, e)
				continue
			}
			j.Creates = append(j.Creates, e)
		}
		return j
	}
	require.NoError(t, valid(MaxEntries).check("../list"))
	require.ErrorIs(t, valid(MaxEntries+1).check("../list"), ErrTooMany)

	for size, ok := range map[int64]bool{-1: false, 0: true, vfs.MaxFileBytes: true, vfs.MaxFileBytes + 1: false} {
		j := valid(1)
		j.Creates[0].Size = size
		assert.Equal(t, ok, j.check("../list") == nil, "size %d", size)
	}
	for mode, ok := range map[os.FileMode]bool{0: true, 0o777: true, 0o1777: false, os.ModeDir | 0o700: false} {
		j := valid(1)
		j.Creates[0].Mode = mode
		assert.Equal(t, ok, j.check("../list") == nil, "mode %v", mode)
	}
}

func TestIsIDAcceptsANumberLowerCaseLettersDigitsAndHyphens(t *testing.T) {
	for tail, ok := range map[string]bool{
		"": true, "az09-": true, strings.Repeat("a", 64-12): true, strings.Repeat("a", 65-12): false,
		"A": false, "a/b": false, "`": false, "{": false, ":": false, ".": false, "é": false,
	} {
		assert.Equal(t, ok, isID("n0000000001-"+tail), "%q", tail)
		assert.False(t, isID(tail), "%q", tail)
	}
	for _, id := range []string{"", "n", "n1-a", "n7-x", "n0000000000-a", "n0000000001", "x0000000001-a", "n-000000001-a", "n00000000001-a",
		"n00000000x7-x", "0000000007-x"} {
		assert.False(t, isID(id), id)
		assert.Zero(t, numberOf(id), id)
	}
	assert.EqualValues(t, 7, numberOf("n0000000007-x"))
}
