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
	"github.com/fsmtx/fsmtx/internal/hooks/js"
)

// Characters that need quoting in curl's configuration, and characters that Go would escape
// and curl would not, reach the server unchanged.
func TestHTTPHookSendsItsHeadersUnchanged(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("an http hook needs curl")
	}
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
				server.URL, js.Quote(value)))

			r := e.Fire(t.Context(), "Stop", Input{})

			require.Empty(t, r.Warnings())
			require.Equal(t, value, got)
		})
	}
}

// The agent's HTTP client knows only http and https; curl would read a file.
func TestHTTPHookReadsNoFile(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("an http hook needs curl")
	}
	answer := filepath.Join(t.TempDir(), "answer")
	require.NoError(t, os.WriteFile(answer, []byte(`{"decision": "block", "reason": "no"}`), 0o600))
	e := engineOf(t, dialect.Claude(), fmt.Sprintf(`{"Stop":[{"hooks":[{"type":"http","url":%q}]}]}`, "file://"+answer))

	r := e.Fire(t.Context(), "Stop", Input{})

	require.Len(t, r.Results, 1)
	require.Contains(t, r.Results[0].Error, "Hook of type http failed: curl: (1) ")
	require.Empty(t, r.Results[0].Stdout)
}
