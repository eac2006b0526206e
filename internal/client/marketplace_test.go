package client_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
)

const installedP = `{"version": 2, "plugins": {"p@m": [{"scope": "user", "installPath": "/cache/p"}]}}`

func root(w *world) client.Root {
	r := w.registry(installedP)
	return r.Root(r.Installations()[0])
}

func TestRoot(t *testing.T) {
	const noSource = manifestPath + `: the source of "p" is not a directory in the marketplace`
	directory := `{"m": {"source": {"source": "directory", "path": "/src/market"}}}`
	live := client.Root{Dir: tree + "/p", Live: true}
	copied := client.Root{Dir: "/cache/p"}
	tests := []struct {
		name, known, manifest string
		want                  client.Root
		err                   string
	}{
		{"directory", directory, `{"plugins": [7, {"name": "q", "source": "./q"}, {"name": "p", "source": "./p"}]}`, live, ""},
		{"the tree itself", directory, `{"plugins": [{"name": "p", "source": "./"}]}`, client.Root{Dir: tree, Live: true}, ""},
		{"no marketplaces", ``, `{"plugins": [{"name": "p", "source": "./p"}]}`, copied, ""},
		{"git", `{"m": {"source": {"source": "git", "path": "/src/market"}}}`, `{"plugins": [{"name": "p", "source": "./p"}]}`, copied, ""},
		{"unknown marketplace", `{"n": {"source": {"source": "directory", "path": "/src/market"}}}`,
			`{"plugins": [{"name": "p", "source": "./p"}]}`, copied, ""},
		{"marketplace of another type", `{"m": 1}`, ``, copied, ""},
		{"source of another type", `{"m": {"source": "directory"}}`, ``, copied, ""},
		{"torn list", `{"m": `, ``, copied, knownPath + `:1:7: unexpected end of file: the { at 1:1 is not closed`},
		{"list of another type", `[]`, ``, copied, knownPath + `:1:1: got an array`},
		{"no path", `{"m": {"source": {"source": "directory"}}}`, ``, copied, ""},
		{"relative path", `{"m": {"source": {"source": "directory", "path": "src/market"}}}`, ``, copied, ""},
		{"no manifest", directory, ``, copied, manifestPath + `: file does not exist`},
		{"torn manifest", directory, `{`, copied, manifestPath + `:1:2: unexpected end of file: the { at 1:1 is not closed`},
		{"no plugins", directory, `{"x": 1}`, copied, manifestPath + `: there is no plugin "p"`},
		{"plugins of another type", directory, `{"plugins": {}}`, copied, manifestPath + `:1:13: plugins: got an object`},
		{"no such plugin", directory, `{"plugins": [{"name": "q", "source": "./p"}]}`, copied, manifestPath + `: there is no plugin "p"`},
		{"source from elsewhere", directory, `{"plugins": [{"name": "p", "source": {"source": "github"}}]}`, copied, noSource},
		{"source outside", directory, `{"plugins": [{"name": "p", "source": "../outside"}]}`, copied, noSource},
		{"absolute source", directory, `{"plugins": [{"name": "p", "source": "/src/outside"}]}`, copied, noSource},
		{"missing source", directory, `{"plugins": [{"name": "p", "source": "./gone"}]}`, copied, noSource},
		{"source is a file", directory, `{"plugins": [{"name": "p", "source": "./p/file"}]}`, copied, noSource},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			if test.known != "" {
				w.put(knownPath, test.known)
			}
			if test.manifest != "" {
				w.put(manifestPath, test.manifest)
			}
			w.put(tree+"/p/file", "")
			w.put("/src/outside/file", "")
			got := root(w)
			if test.err != "" {
				require.EqualError(t, got.Err, test.err)
				require.ErrorAs(t, got.Err, new(*client.FileError))
				if strings.Contains(test.err, ".json:1:") {
					require.ErrorIs(t, got.Err, client.ErrBadFile)
				}
				got.Err = nil
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestRootReadsTheMarketplacesOnce(t *testing.T) {
	w := newWorld(t)
	r := w.registry(installedP)
	first := r.Root(r.Installations()[0])
	w.put(knownPath, `{`)
	assert.Equal(t, first, r.Root(r.Installations()[0]))
}

func TestRootOfAParsedRegistryIsTheCopy(t *testing.T) {
	r := must(client.ParseRegistry(registryPath, []byte(installedP)))
	assert.Equal(t, client.Root{Dir: "/cache/p"}, r.Root(r.Installations()[0]))
}
