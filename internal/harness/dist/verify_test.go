package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

// contributor is a clone of a local bare repository with the example's files, and a key.
type contributor struct {
	*author
	key string
	bin string // directory of the release's programs
}

func newContributor(t *testing.T) *contributor {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	r := built(t)
	c := &contributor{author: newAuthor(t, r.file(t, archiveName()), r.file(t, "SHA256SUMS"))}
	unpacked := t.TempDir()
	require.NoError(t, exec.Command("tar", "-xzf", filepath.Join(r.out, archiveName()), "-C", unpacked).Run())
	c.bin = filepath.Join(unpacked, strings.TrimSuffix(archiveName(), ".tar.gz"))
	c.key = filepath.Join(t.TempDir(), "key")
	c.put("skills/release/fsm.json", `[{"id": 1, "subject": "Write the notes", "produces": ["RELEASE.md"]}]`)
	c.put(".fsmtx/allowed_signers", "ada@example.org "+c.newKey(c.key))
	policy := text(c.t, exampleDir+"/.fsmtx/policy.json") // the runs are of commands that no hook has seen
	c.put(".fsmtx/policy.json", strings.Replace(policy, `"policy": 1,`, `"policy": 1, "unenforced": true,`, 1))
	origin := filepath.Join(t.TempDir(), "origin.git")
	c.does("git", "init", "-q", "--bare", "-b", "main", origin)
	c.does("git", "init", "-q", "-b", "main")
	c.does("git", "remote", "add", "origin", origin)
	c.push("main")
	return c
}

// newKey writes a private key to a file, and returns the line of the public one.
func (c *contributor) newKey(file string) string {
	c.t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(c.t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	require.NoError(c.t, err)
	require.NoError(c.t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	line, err := ssh.NewPublicKey(public)
	require.NoError(c.t, err)
	return string(ssh.MarshalAuthorizedKey(line))
}

func (c *contributor) put(name, text string) {
	c.t.Helper()
	file := filepath.Join(c.repo, name)
	require.NoError(c.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(c.t, os.WriteFile(file, []byte(text), 0o644))
}

// env is that of the contributor's machine, where the state of runs is.
func (c *contributor) env() []string {
	return []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada",
		"GIT_COMMITTER_EMAIL=ada@example.org", "XDG_STATE_HOME=" + c.cache + "/state", "PATH=" + c.bin + ":" + os.Getenv("PATH")}
}

// does runs a command, which has to succeed, and returns its output.
func (c *contributor) does(name string, args ...string) string {
	c.t.Helper()
	if name == "fsmtx" {
		name = filepath.Join(c.bin, name)
	}
	out, code := c.run(c.env(), name, args...)
	require.Zero(c.t, code, "%s %v: %s", name, args, out)
	return strings.TrimSpace(out)
}

// push commits everything and pushes it to a branch.
func (c *contributor) push(branch string) {
	c.t.Helper()
	c.does("git", "add", "--all")
	c.does("git", "commit", "-q", "-m", branch)
	c.does("git", "push", "-q", "origin", "HEAD:"+branch)
}

// works runs the workflow in a list of its own.
func (c *contributor) works(list string) {
	c.t.Helper()
	c.does("fsmtx", "begin", "./skills/release", "--list", list)
	c.does("fsmtx", "start", "1", "--list", list)
	c.put("RELEASE.md", "What is new: "+list+"\n")
	c.does("fsmtx", "complete", "1", "--list", list)
}

// judged runs the action on a fresh clone of a branch, as for a pull request to main.
func (c *contributor) judged(branch string, inputs map[string]string) (string, int) {
	c.t.Helper()
	fresh := *c.author
	fresh.repo = filepath.Join(c.t.TempDir(), "clone")
	c.does("git", "clone", "-q", "-b", branch, c.does("git", "remote", "get-url", "origin"), fresh.repo)
	base, head := c.does("git", "ls-remote", "origin", "refs/heads/main")[:40], c.does("git", "rev-parse", "HEAD")
	all := map[string]string{"version": "1.2.3", "policy": ".fsmtx/policy.json", "base": base, "commit": head}
	for name, value := range inputs {
		all[name] = value
	}
	return fresh.action("verify", all)
}

// TestAPullRequestIsRefusedAndAccepted: by the action, from an intact release, with the statement as a file and as a note.
func TestAPullRequestIsRefusedAndAccepted(t *testing.T) {
	c := newContributor(t)
	c.does("git", "checkout", "-q", "-b", "change")
	c.put("CHANGELOG.md", "1.1.0\n")
	c.works("first")
	c.push("change")
	refused := func(want string, inputs map[string]string) {
		t.Helper()
		out, code := c.judged("change", inputs)
		require.Equal(t, 1, code, out)
		require.Contains(t, out, want)
	}
	refused("::error::no statement of release holds, which CHANGELOG.md needs by the policy\n", nil)

	c.does("fsmtx", "attest", "--list", "first", "--key", c.key, "-o", ".fsmtx/release.intoto.json")
	c.push("change")
	out, code := c.judged("change", nil)
	require.Zero(t, code, out)
	require.Regexp(t, `\A\.fsmtx/release\.intoto\.json: holds: release, signed by ada@example\.org \(.*\)\n(::warning .*\n)+\z`, out,
		"it says what holds and what the policy let pass, and nothing of notes that nobody has written")

	// With a program of one's own no release is needed.
	out, code = c.judged("change", map[string]string{"program": filepath.Join(c.bin, "fsmtx"), "version": "9.9.9"})
	require.Zero(t, code, out)

	// A later change is not what was attested.
	c.put("CHANGELOG.md", "1.2.0\n")
	c.push("change")
	refused("::error file=.fsmtx/release.intoto.json::the statement is about the commit", nil)

	// As a note it needs no commit of its own.
	c.does("git", "rm", "-q", ".fsmtx/release.intoto.json")
	c.works("second")
	c.push("change")
	c.does("fsmtx", "attest", "--list", "second", "--key", c.key, "--note")
	refused("no statement of release holds", nil)
	c.does("git", "push", "-q", "origin", "refs/notes/fsmtx")
	out, code = c.judged("change", nil)
	require.Zero(t, code, out)
	refused("no statement of release holds", map[string]string{"note": "false"})

	// A change cannot say who may sign it, nor that nothing has to hold.
	c.does("git", "checkout", "-q", "-b", "hostile", "origin/main")
	other := filepath.Join(t.TempDir(), "key")
	c.put(".fsmtx/allowed_signers", "ada@example.org "+c.newKey(other))
	c.put(".fsmtx/policy.json", `{"policy": 1}`)
	c.put("CHANGELOG.md", "1.3.0\n")
	c.put("RELEASE.md", "What is new: first\n")
	c.push("hostile")
	c.does("fsmtx", "attest", "--list", "first", "--key", other, "-o", ".fsmtx/release.intoto.json")
	c.push("hostile")
	out, code = c.judged("hostile", nil)
	require.Equal(t, 1, code, out)
	require.Contains(t, out, "its key is not in the file of allowed signers")
	require.Contains(t, out, "no statement of release holds")
}
