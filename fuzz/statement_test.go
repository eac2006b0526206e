package fuzz_test

import (
	"encoding/base64"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/proof"
)

// FuzzStatement opens any text as an envelope, and any text as what an envelope carries. An envelope that is not signed is refused,
// whatever it carries; a statement that is read names only paths in its repository, and one commit or tree.
func FuzzStatement(f *testing.F) {
	const statement = `{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"commit","digest":{"gitCommit":` +
		`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}},{"name":"a","digest":{"sha256":` +
		`"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}}],"predicateType":` +
		`"https://github.com/fsmtx/fsmtx/attestation/run/v1","predicate":{"id":"1","skill":"s","project":".","fsm":{"path":"f","sha256":` +
		`"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"},"fsmtx":"1","agent":{"name":""},"began":` +
		`"2026-11-28T12:00:00Z","steps":[{"id":1,"subject":"A","state":"done","rounds":1,"decisions":[]}],"overrides":[],"unenforced":[],` +
		`"evidence":{"sha256":"","lines":0}}}`
	signed := `{"payloadType":"application/vnd.in-toto+json","payload":"","signatures":[{"keyid":"SHA256:","sig":"U1NIU0lH"}]}` + "\n"
	for _, payload := range []string{statement, `{}`, `{"subject":[{"name":"../a"}]}`, `{"_type":1,"_type":2}`, `[[[[`} {
		f.Add([]byte(signed), payload)
	}
	f.Add([]byte(`{"payloadType":"","payloadType":""}`), statement)
	f.Fuzz(func(t *testing.T, envelope []byte, payload string) {
		_, _, err := proof.Open(envelope)
		require.Error(t, err, "nobody has signed it")
		unsigned := []byte(`{"payloadType":"application/vnd.in-toto+json","payload":"` + base64.StdEncoding.EncodeToString([]byte(payload)) +
			`","signatures":[]}` + "\n")
		_, _, err = proof.Open(unsigned)
		require.Error(t, err)
		s, err := proof.Read(unsigned)
		if err != nil {
			require.Empty(t, s)
			return
		}
		require.NotEqual(t, s.Subject[0].Digest.Commit == "", s.Subject[0].Digest.Tree == "")
		for _, file := range s.Subject[1:] {
			require.True(t, filepath.IsLocal(file.Name))
			require.NotEmpty(t, file.Name)
		}
		require.True(t, filepath.IsLocal(s.Predicate.Project))
	})
}
