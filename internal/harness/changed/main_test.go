package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPackagesThatAChangeConcerns(t *testing.T) {
	m := &module{map[string][]string{}, map[string][]string{}}
	m.add("txn", `import "github.com/fsmtx/fsmtx/txn/vfs"`, false)
	m.add("txn/vfs", "", false)
	m.add("internal/show", `import "github.com/fsmtx/fsmtx/txn"`, true)
	m.add("internal/show", `os.ReadFile("../../testdata/script/a.txtar")`, true)
	m.add("internal/show", `"testdata/hooks is only named"`, false)
	for file, want := range map[string][]string{
		"txn/vfs/os.go":                 {"./txn/vfs"},
		"txn/testdata/deep/a.json":      {"./txn"},
		"testdata/script/a.txtar":       {"./internal/show"},
		"testdata/hooks/cases.json":     nil,
		"README.md":                     nil,
		"internal/gone/with/all/its.go": nil,
	} {
		assert.Equal(t, want, m.concerned([]string{file}, false), file)
	}
	assert.Equal(t, []string{"./txn", "./txn/vfs"}, m.concerned([]string{"txn/vfs/os.go", "txn/vfs/a.go"}, true))
	assert.Equal(t, []string{"./internal/show", "./txn"}, m.concerned([]string{"txn/doc.go"}, true), "by a test")
}

func TestThisModule(t *testing.T) {
	m, err := read("../../..")
	assert.NoError(t, err)
	assert.Contains(t, m.concerned([]string{"testdata/script/deep.txtar"}, false), "./internal/tools")
	assert.Contains(t, m.concerned([]string{"txn/vfs/vfs.go"}, true), "./txn")
	assert.NotContains(t, m.concerned([]string{"txn/vfs/vfs.go"}, true), "./internal/mcp")
}
