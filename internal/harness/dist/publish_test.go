package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/programs"
)

// TestPublish does what the workflow does that publishes for npm, with a registry on this machine: the packages for the platforms come
// first, what is there already is left out, and a package that SHA256SUMS does not name is refused. The login and the signature of
// trusted publishing cannot be tried here.
func TestPublish(t *testing.T) {
	for _, program := range []string{"npm", "node"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not there")
		}
	}
	r := release{Build: programs.Build{Version: "1.2.3"}, date: time.Unix(1e9, 0), out: t.TempDir()}
	for _, m := range []manifest{npmPlatform("linux", "amd64"), npmPlatform("darwin", "arm64"), {Name: "fsmtx"}} {
		require.NoError(t, r.writePackage(m, "1.2.3", []file{{"README.md", 0o644, []byte("x\n")}}))
	}
	require.NoError(t, r.writeSums())
	npm := registry(t)
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, ".npmrc"),
		[]byte(strings.TrimPrefix(npm.URL, "http:")+"/:_authToken=none\nupdate-notifier=false\n"), 0o600))
	publish := func() (string, error) {
		c := exec.Command(filepath.Join(root, ".ci/publish"), r.out, "--registry", npm.URL)
		c.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		out, err := c.CombinedOutput()
		return string(out), err
	}
	all := []string{"@fsmtx/linux-x64@1.2.3", "@fsmtx/darwin-arm64@1.2.3", "fsmtx@1.2.3"}
	out, err := publish()
	require.NoError(t, err, out)
	require.Equal(t, all, npm.published)
	out, err = publish()
	require.NoError(t, err, out)
	require.Equal(t, 3, strings.Count(out, " is published already\n"), out)
	require.Equal(t, all, npm.published, "it can be run again")

	require.NoError(t, os.WriteFile(filepath.Join(r.out, "fsmtx-linux-x64-1.2.3.tgz"), []byte("another"), 0o644))
	out, err = publish()
	require.Error(t, err, out)
	require.Contains(t, out, "fsmtx-linux-x64-1.2.3.tgz: FAILED")
}

// npmRegistry is as much of a registry as npm publish and npm view need.
type npmRegistry struct {
	*httptest.Server
	mu        sync.Mutex
	published []string
	packages  map[string][]byte
}

func registry(t *testing.T) *npmRegistry {
	r := &npmRegistry{packages: map[string][]byte{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *npmRegistry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch name := q.URL.Path; q.Method {
	case http.MethodPut:
		var p struct {
			Name     string                    `json:"name"`
			Tags     map[string]string         `json:"dist-tags"`
			Versions map[string]jsontext.Value `json:"versions"`
		}
		if err := json.UnmarshalRead(q.Body, &p); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.published = append(r.published, p.Name+"@"+p.Tags["latest"])
		r.packages[name], _ = json.Marshal(p)
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte("{}"))
	default:
		text, ok := r.packages[name]
		if !ok {
			http.Error(w, "{}", http.StatusNotFound)
			return
		}
		_, _ = w.Write(text)
	}
}
