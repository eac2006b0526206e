package txn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
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
	names := []string{journalName, committingName, settlingName}
	first := slices.IndexFunc(names, func(name string) bool { _, err := os.Lstat(w.in(name)); return err == nil })
	require.Equal(t, w.in(names[first]), found.Path)
	_, err = Inspect(ctx, w.d)
	require.EqualError(t, err, found.Error(), "inspected")
	_, err = Open(ctx, w.d)
	require.EqualError(t, err, found.Error(), "opened")
	require.Equal(t, before, tree(t, w.root, lockFileName))
	return found
}

// TestDamagedJournalIsNotActedOn does on the disk what
// TestJournalWithAnyByteChangedIsRejected does in memory, for some bytes.
func TestDamagedJournalIsNotActedOn(t *testing.T) {
	w := newWorld(t)
	for n := 0; n < len(w.journal); n += 23 {
		w.setJournal(t, w.journal[:n])
		w.requireUntrusted(t)
	}
	for i := 0; i < len(w.journal); i += 17 {
		data := append([]byte(nil), w.journal...)
		data[i] ^= 1 << (i % 8)
		w.setJournal(t, data)
		w.requireUntrusted(t)
	}
	w.setJournal(t, w.journal)
	r, err := Recover(context.Background(), w.d)
	require.NoError(t, err)
	assert.Equal(t, Report{Outcome: RolledBack, ID: w.id, Time: r.Time, Label: "a label", Restored: []string{"2.json", "3.json"},
		Removed: []string{"4.json", "5.json"}}, r)
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
		return []byte(text + checksum(stagedVersion, []byte(w.body())) + "\n" + w.body())
	}
}

var forgeries = []forged{
	{"version 0", head("fsmtx-journal 0 "), ErrJournalVersion},
	{"version 3 with the checksum of version 2", head("fsmtx-journal 3 "), ErrJournalTorn},
	{"version 3 with another shape", head("fsmtx-journal 3 x y z "), ErrJournalTorn},
	{"version 3 without a checksum", func(*world) []byte { return []byte("fsmtx-journal 3\n{}") }, ErrJournalTorn},
	{"version 4", head("fsmtx-journal 4 "), ErrJournalVersion},
	{"version 4 with another shape", head("fsmtx-journal 4 x y z "), ErrJournalVersion},
	{"version 4 without a checksum", func(*world) []byte { return []byte("fsmtx-journal 4\n{}") }, ErrJournalVersion},
	{"version 1 with the checksum of version 2", head("fsmtx-journal 1 "), ErrJournalTorn},
	{"version 1 with a record", func(w *world) []byte { return sealedOld(w.body()) }, ErrJournalInvalid},
	{"another shape", head("fsmtx-journal 2 x "), ErrJournalTorn},
	{"version 01", head("fsmtx-journal 01 "), ErrJournalVersion},
	{"no version", head("fsmtx-journal  "), ErrJournalVersion},
	{"another program's", head("raft-journal 1 "), ErrJournalTorn},
	{"byte order mark", head("\ufefffsmtx-journal 2 "), ErrJournalTorn},
	{"two spaces", head("fsmtx-journal 2  "), ErrJournalTorn},
	{"upper-case checksum", func(w *world) []byte {
		return []byte("fsmtx-journal 2 " + strings.ToUpper(checksum(stagedVersion, []byte(w.body()))) + "\n" + w.body())
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
	{"inode below 0", func(w *world) []byte { return with(`"inode":`, `"inode":-`)(w) }, ErrJournalInvalid},
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

// sealedOld returns a journal of version 1.
func sealedOld(body string) []byte {
	return []byte("fsmtx-journal 1 " + digest([]byte(body)) + "\n" + body)
}

// oldBody returns the body of a journal of version 1, as that version wrote it.
func (w *world) oldBody() string {
	return strings.Replace(w.body(), `"record":"a record",`, "", 1)
}

func TestJournalOfVersion1IsActedOn(t *testing.T) {
	w := newWorld(t)
	require.NotContains(t, w.oldBody(), "record")
	w.setJournal(t, sealedOld(w.oldBody()))
	w.requireRecovered(t, Report{Restored: []string{"2.json", "3.json"}, Removed: []string{"4.json", "5.json"}})
	assert.Equal(t, w.before, tree(t, w.d))
}

func TestForgedJournalIsNotActedOn(t *testing.T) {
	w := newWorld(t)
	for _, f := range forgeries {
		t.Run(strings.ReplaceAll(f.name, " ", "-"), func(t *testing.T) {
			w.setJournal(t, f.make(w))
			found := w.requireUntrusted(t)
			assert.ErrorIs(t, found, f.reason)
		})
	}
}

// blob is the bytes of the world's files, as a whole record has them.
const blob = "new 4new 5old 2old 3"

// asRecord makes a whole record of a forged journal whose checksum is right. It returns nil
// for others.
func asRecord(data []byte, blob string) []byte {
	head, body, _ := strings.Cut(string(data), "\n")
	if head != "fsmtx-journal 2 "+checksum(stagedVersion, []byte(body)) {
		return nil
	}
	return []byte("fsmtx-journal 3 " + checksum(wholeVersion, []byte(body)) + "\n" + body + "\n" + blob)
}

// TestForgedRecordIsNotActedOn: every forgery as a whole record, which recovery would
// complete, and those that only a whole record can have.
func TestForgedRecordIsNotActedOn(t *testing.T) {
	w := newWorld(t)
	records := map[string][]byte{}
	for _, f := range forgeries {
		records[f.name] = asRecord(f.make(w), blob)
	}
	for name, bytes := range map[string]string{
		"no bytes": "", "a byte too few": blob[1:], "a byte too many": blob + "x", "other bytes": "new 4new 5old 2new 2",
		"bytes of others": "old 2old 3new 4new 5",
	} {
		records[name] = asRecord(w.journal, bytes)
	}
	for name, body := range map[string]string{
		"a time that is not one": strings.Replace(w.body(), `"size":5`, `"mtime":"x","size":5`, 1),
		"a life that is not one": strings.Replace(w.body(), `"label"`, `"life":1,"label"`, 1),
		"sizes that overflow":    strings.ReplaceAll(w.body(), `"size":5`, `"size":67108864`),
	} {
		records[name] = asRecord(sealed(body), blob)
	}
	tried := 0
	for name, data := range records {
		if data == nil {
			continue
		}
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			w.setJournal(t, data)
			w.requireUntrusted(t)
		})
		tried++
	}
	require.Greater(t, tried, 40)
	w.setJournal(t, asRecord(w.journal, blob))
	r, err := Recover(t.Context(), w.d)
	require.NoError(t, err, "the record itself is valid")
	assert.Equal(t, Completed, r.Outcome)
}

// TestJournalMustBeARegularFile: no function blocks on a pipe or follows a link.
func TestJournalMustBeARegularFile(t *testing.T) {
	for name, plant := range map[string]func(t *testing.T, w *world, path string) error{
		"directory": func(_ *testing.T, w *world, path string) error { return os.Mkdir(path, 0o700) },
		"FIFO":      func(_ *testing.T, w *world, path string) error { return syscall.Mkfifo(path, 0o600) },
		"socket": func(t *testing.T, w *world, path string) error {
			closeSocket, err := files.Socket(path)
			if err == nil {
				t.Cleanup(func() { _ = closeSocket() })
			}
			return err
		},
		"link to a valid journal": func(_ *testing.T, w *world, path string) error {
			if err := os.WriteFile(w.path("outside/journal"), w.journal, 0o600); err != nil {
				return err
			}
			return os.Symlink(w.path("outside/journal"), path)
		},
		"link to nothing": func(_ *testing.T, w *world, path string) error { return os.Symlink(w.path("nothing"), path) },
		"larger than any journal": func(_ *testing.T, w *world, path string) error {
			if err := os.WriteFile(path, w.journal, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, vfs.MaxFileBytes+1)
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			for _, at := range []string{journalName, committingName, settlingName} {
				w := newWorld(t)
				require.NoError(t, os.Remove(w.in(journalName)))
				require.NoError(t, plant(t, w, w.in(at)))
				assert.ErrorIs(t, w.requireUntrusted(t), ErrJournalInvalid, at)
				w.requireSetAside(t)
			}
		})
	}
}

// TestAStagedJournalIsNotARecord: it has no bytes, so what it committed could only be rolled
// back, although somebody may have been told that it has happened.
func TestAStagedJournalIsNotARecord(t *testing.T) {
	for _, name := range []string{committingName, settlingName} {
		w := newWorld(t)
		require.NoError(t, os.Rename(w.in(journalName), w.in(name)))
		assert.ErrorIs(t, w.requireUntrusted(t), ErrJournalInvalid)
		w.requireSetAside(t)
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
	r, err := Recover(ctx, w.d)
	require.NoError(t, err)
	require.Equal(t, Report{Outcome: Clean}, r)
	require.Equal(t, before, tree(t, w.d))
	require.Equal(t, outside, tree(t, w.path("outside")))
	d, err := Open(ctx, w.d)
	require.NoError(t, err)
	require.NoError(t, d.Commit(ctx, Change{Creates: []File{{"9.json", []byte("new 9"), 0o644}}}))
	require.NoError(t, d.Close())
	require.NoError(t, os.Remove(filepath.Join(w.d, "9.json")))
}

func TestForgedJournalCanBeSetAside(t *testing.T) {
	for _, f := range forgeries {
		w := newWorld(t)
		w.setJournal(t, f.make(w))
		w.requireSetAside(t)
		moved, err := SetAside(context.Background(), w.d)
		require.NoError(t, err)
		require.Empty(t, moved, "there is no journal any more")
	}
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
		j := &journal{ID: "a", Dir: "../list"}
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

func TestIsIDAcceptsLowerCaseLettersDigitsAndHyphens(t *testing.T) {
	for id, ok := range map[string]bool{
		"az09-": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "": false,
		"A": false, "a/b": false, "`": false, "{": false, ":": false, ".": false, "é": false,
	} {
		assert.Equal(t, ok, isID(id), "%q", id)
	}
}
