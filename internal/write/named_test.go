package write

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/outline"
)

// TestNamedElsewhere: a check is proposed only if no sentence elsewhere names what it runs, unless that is plainly an order to run it,
// or harmless. Where the sentence stands makes no difference.
func TestNamedElsewhere(t *testing.T) {
	const steps = "# Steps\n1. Code.\n2. Run `make test`; it must pass.\n"
	p := corpusProject(t)
	for file, want := range map[string]string{"forbidding": "", "harmless": `"check": "make test"`} {
		text, err := os.ReadFile("testdata/" + file + ".txt")
		require.NoError(t, err)
		for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
			if strings.HasPrefix(line, "# ") {
				continue
			}
			said := strings.ReplaceAll(line, `\n`, "\n")
			for where, text := range map[string]string{
				"before":  said + "\n\n" + steps,
				"behind":  steps + "\n" + said + "\n",
				"section": steps + "\n## Notes\n\n" + said + "\n",
			} {
				if where == "behind" && want != "" {
					continue // it may belong to the last step
				}
				o := outline.Markdown([]byte(text), "list")
				require.Len(t, o.Steps, 2, text)
				got := ""
				for _, h := range possible(p, o) {
					if strings.HasPrefix(h.Gate, `"check"`) {
						got += h.Gate
					}
				}
				assert.Equal(t, want, got, "%s: %q", where, said)
			}
		}
	}
}

// TestNamedWithin: what a check runs, and what runs the check, may be forbidden, too.
func TestNamedWithin(t *testing.T) {
	p := corpusProject(t)
	const makefile = "test: build\n\tgo vet ./... && npm run types\nbuild:\n\tgo build ./...\n" +
		"check: test docs\ndocs:\n\ttrue\ndeploy: test\n\tpush\n"
	require.NoError(t, os.WriteFile(filepath.Join(p.Dir, "Makefile"), []byte(makefile), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(p.Dir, "package.json"), []byte(`{"scripts": {"types": "eslint src"}}`), 0o644))
	const steps = "# Steps\n1. Code.\n2. Run `make test`; it must pass.\n"
	for said, want := range map[string]bool{
		"Do not run `go vet` in this project: it rewrites the cache on the server.": false,
		"Do not run go vet.":                        false,
		"Do not run `make check`.":                  false,
		"Never run `make build`.":                   false,
		"Never run the build.":                      false,
		"Never run `npm run types`.":                false,
		"Never use `npm`.":                          false,
		"Never lint anything, `eslint` is not free": false,
		"Never invoke Go tools.":                    false,
		"Go is not installed.":                      false,
		"`go vet`: ops":                             false,
		"## Hands off\n\n- `go vet ./...`":          false,
		"The maintainer runs `make check`.":         false,
		"Never run `make deploy`.":                  true,
		"Never run `make docs`.":                    true,
		"The program is written in Go.":             true,
		"Run `make check`.":                         true,
		"Use `go build` for a quick look.":          true,
	} {
		o := outline.Markdown([]byte(said+"\n\n"+steps), "list")
		got := ""
		for _, h := range possible(p, o) {
			got += h.Gate
		}
		assert.Equal(t, map[bool]string{true: `"check": "make test"`}[want], got, said)
	}
}
