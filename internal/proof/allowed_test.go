package proof

import (
	"bytes"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// TestSignersAreThoseOfSSHKeygen: whatever stands in the file of allowed signers, whoever asks, and when, the answer is that of
// ssh-keygen -Y verify.
func TestSignersAreThoseOfSSHKeygen(t *testing.T) {
	worlds.Long(t)
	program, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("ssh-keygen is not there")
	}
	dir := t.TempDir()
	file, sig := filepath.Join(dir, "allowed"), filepath.Join(dir, "sig")
	signer := signerOf(t, newEd25519(t))
	text := []byte("a statement")
	blob, err := sign(signer, text)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(sig, pem.EncodeToMemory(&pem.Block{Type: "SSH SIGNATURE", Bytes: blob}), 0o600))
	key := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
	other := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signerOf(t, newEd25519(t)).PublicKey())))

	oneOf := func(all ...string) *rapid.Generator[string] { return rapid.SampledFrom(all) }
	name := oneOf("ada", "ada@example.org", "ada lovelace", "bob", "*", "a?a", "[a-z]da", "*@example.org", "!bob", "!ada", "", "*a*", `a\da`,
		"é", "?", "??",
		"{ada,bob}", "Ada", strings.Repeat("a", 1030), "!*@example.org")
	list := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "names"), ",") })
	moment := oneOf("20261128", "20261129", "202611281200", "20261128120000", "20261128120001", "20261128Z", "202611281200z",
		"20261128120000UTC",
		"20260231", "20261301", "19700101Z", "2026", "tomorrow", "", "20261128 ", "20261128125960")
	option := rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 6).Draw(t, "option") {
		case 0:
			return "namespaces=\"" + oneOf("fsmtx", "git", "", "*", "git,fsm*", "*,!fsmtx", "!git", "!git,fsmtx", `fs\"mtx`, "FSMTX").Draw(t,
				"namespaces") + "\""
		case 1:
			return "valid-after=\"" + moment.Draw(t, "after") + "\""
		case 2:
			return "valid-before=\"" + moment.Draw(t, "before") + "\""
		}
		return oneOf("cert-authority", "CERT-AUTHORITY", "no-cert-authority", "namespaces", "namespaces=fsmtx", `NAMESPACES="fsmtx"`, "x",
			`x="y"`, "",
			`namespaces="fsmtx`, `cert-authority="x"`, "cert-authorityx", `valid-after="20261128"x`).Draw(t, "other")
	})
	line := rapid.Custom(func(t *rapid.T) string {
		who := list.Draw(t, "principals")
		switch rapid.IntRange(0, 3).Draw(t, "quotes") {
		case 0:
			who = `"` + who + `"`
		case 1:
			who = oneOf("x", "ada,", "").Draw(t, "before") + `"` + who + `"` + oneOf("", "x", `"`).Draw(t, "after")
		}
		options := strings.Join(rapid.SliceOfN(option, 0, 3).Draw(t, "options"), oneOf(",", ",", " ", ",,").Draw(t, "comma"))
		blank := oneOf(" ", "\t", "  ")
		whose := oneOf(key, key, key, other, "ssh-ed25519 AAAA", "ssh-ed25519", "unknown AAAA", strings.Replace(key, " ", "  ", 1)).Draw(t, "key")
		text := oneOf("", "", " ", "#", "\t").Draw(t, "indent") + who + blank.Draw(t, "blank")
		if options != "" {
			text += options + blank.Draw(t, "another")
		}
		return text + whose + oneOf("", " a comment", "\r", " ").Draw(t, "end")
	})
	held := 0
	rapid.Check(t, func(t *rapid.T) {
		text2 := strings.Join(rapid.SliceOfN(line, 1, 3).Draw(t, "lines"), "\n") + oneOf("\n", "").Draw(t, "last")
		identity := oneOf("ada", "bob", "ada@example.org", "ada lovelace", "[a-z]da", "é", "Ada", `a\da`, strings.Repeat("a", 1030)).Draw(t,
			"identity")
		at := time.Date(2026, 11, 28, 12, 0, rapid.IntRange(-1, 2).Draw(t, "second"), 0, time.Local)
		require.NoError(t, os.WriteFile(file, []byte(text2), 0o600))
		ask := exec.Command(program, "-Y", "verify", "-f", file, "-I", identity, "-n", namespace, "-s", sig,
			"-Overify-time="+at.Format("20060102150405"))
		ask.Stdin = bytes.NewReader(text)
		said, err := ask.CombinedOutput()
		_, ours := parseAllowed([]byte(text2)).find(signer.PublicKey(), at, []string{identity})
		require.Equal(t, err == nil, ours == nil, "%s\nssh-keygen: %s\nours: %v", text2, said, ours)
		if err == nil {
			held++
		}
	})
	require.NotZero(t, held)
}
