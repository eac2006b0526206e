package hooks

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

func needCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("an http hook needs curl")
	}
}

// Characters that need quoting in curl's configuration, and characters that Go would escape
// and curl would not, reach the server unchanged.
func TestHTTPHookSendsItsHeadersUnchanged(t *testing.T) {
	needCurl(t)
	for name, value := range map[string]string{
		"quotes":             `say "a\b" {x}`,
		"no-break space":     "a\u00a0b",
		"zero-width joiner":  "👩\u200d💻",
		"no printable ASCII": "é☃",
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("X-Note") }))
			defer server.Close()
			e := engineOf(t, dialect.Claude(), fmt.Sprintf(`{"Stop":[{"hooks":[{"type":"http","url":%q,"headers":{"X-Note":%s}}]}]}`,
				server.URL, jsonx.Quote(value)))

			r := e.Fire(t.Context(), "Stop", Input{})

			require.Empty(t, r.Warnings())
			require.Equal(t, value, got)
		})
	}
}

// The status of an answer that is cut off is not known, and its body is not taken for it.
func TestHTTPHookWithAnAnswerThatIsTooLong(t *testing.T) {
	o := responseOutcome(process.Outcome{Stdout: "{}\n200 and more", Truncated: []string{"stdout"}})
	require.EqualError(t, o.Err, "of type http failed: the answer is longer than 32 MiB")
	require.Empty(t, o.Stdout)
}

// A header has only the variables that both the hook and the settings allow, and what a person has configured for curl
// does not count.
func TestHTTPHookSendsOnlyWhatIsAllowed(t *testing.T) {
	needCurl(t)
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, ".curlrc"), []byte(`header = "X-Own: password"`), 0o600))
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	defer server.Close()
	for name, c := range map[string]struct {
		settings []string
		note     string
	}{
		"the settings have no list":      {nil, "a-b-"},
		"the settings have a list":       {[]string{"A", "C"}, "a--"},
		"the settings have an empty one": {[]string{}, "--"},
	} {
		e := engineOf(t, dialect.Claude(), fmt.Sprintf(`{"Stop":[{"hooks":[{"type":"http","url":%q,"headers":{"X-Note":"$A-${B}-$C"},`+
			`"allowedEnvVars":["A","B"]}]}]}`, server.URL))
		e.runner.environ = append(os.Environ(), "HOME="+home, "CURL_HOME="+home, "A=a", "B=b", "C=c")
		e.runner.requests.Env = c.settings

		r := e.Fire(t.Context(), "Stop", Input{})

		require.Empty(t, r.Warnings(), name)
		require.Equal(t, c.note, got.Get("X-Note"), name)
		require.Empty(t, got.Get("X-Own"), name)
	}
}

// The agent's HTTP client knows only http and https; curl would read a file.
func TestHTTPHookReadsNoFile(t *testing.T) {
	needCurl(t)
	answer := filepath.Join(t.TempDir(), "answer")
	require.NoError(t, os.WriteFile(answer, []byte(`{"decision": "block", "reason": "no"}`), 0o600))
	e := engineOf(t, dialect.Claude(), fmt.Sprintf(`{"Stop":[{"hooks":[{"type":"http","url":%q}]}]}`, "file://"+answer))

	r := e.Fire(t.Context(), "Stop", Input{})

	require.Len(t, r.Results, 1)
	require.Contains(t, r.Results[0].Error, "Hook of type http failed: curl: (1) ")
	require.Empty(t, r.Results[0].Stdout)
}
