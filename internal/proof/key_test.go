package proof

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/fsmtx/fsmtx/internal/message"
)

// aKey writes a new key and its public half, and returns both paths. With a passphrase it is encrypted.
func aKey(t *testing.T, passphrase string, private any) (file, public string) {
	t.Helper()
	var block *pem.Block
	var err error
	if passphrase == "" {
		block, err = ssh.MarshalPrivateKey(private, "ada")
	} else {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "ada", []byte(passphrase))
	}
	require.NoError(t, err)
	file = filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	require.NoError(t, os.WriteFile(file+".pub", ssh.MarshalAuthorizedKey(signerOf(t, private).PublicKey()), 0o600))
	return file, file + ".pub"
}

// anAgent is an ssh-agent with keys. It returns the environment of its clients.
func anAgent(t *testing.T, keys ...any) func(string) string {
	t.Helper()
	ring := agent.NewKeyring()
	for _, key := range keys {
		require.NoError(t, ring.Add(agent.AddedKey{PrivateKey: key}))
	}
	dir, err := os.MkdirTemp("", "fsmtx-") // the path of a socket is short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, c) }()
		}
	}()
	return func(name string) string { return map[string]string{"SSH_AUTH_SOCK": socket}[name] }
}

func noEnv(string) string { return "" }

// TestKeys: a private file signs, and a public one if the agent holds the key. An encrypted one is named by its public half.
func TestKeys(t *testing.T) {
	private := newEd25519(t)
	file, public := aKey(t, "", private)
	encrypted, _ := aKey(t, "secret", private)
	foreign, _ := aKey(t, "", must(rsa.GenerateKey(rand.Reader, 2048)))
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("no key"), 0o600))
	held := anAgent(t, private)
	empty := anAgent(t)
	dead := func(string) string { return "/nonexistent/socket" }
	lone := filepath.Join(t.TempDir(), "lone.pub") // without the private file beside it
	require.NoError(t, os.WriteFile(lone, must(os.ReadFile(public)), 0o600))
	another := filepath.Join(t.TempDir(), "key.pub") // with one of another key
	require.NoError(t, os.WriteFile(another, must(os.ReadFile(public)), 0o600))
	of, _ := aKey(t, "", newEd25519(t))
	require.NoError(t, os.WriteFile(strings.TrimSuffix(another, ".pub"), must(os.ReadFile(of)), 0o600))
	for _, c := range []struct {
		name string
		env  func(string) string
		want string // in the error; empty if it signs
	}{
		{file, noEnv, ""},
		{public, held, ""},
		{encrypted + ".pub", held, ""},
		{encrypted, held, "is encrypted with a passphrase, which only ssh-agent asks for"},
		{public, noEnv, ""},
		{public, empty, ""},
		{public, dead, ""},
		{encrypted + ".pub", noEnv, "is encrypted with a passphrase"},
		{another, noEnv, "is a public key, and no ssh-agent is running"},
		{lone, noEnv, "is a public key, and no ssh-agent is running"},
		{lone, empty, "ssh-agent does not hold the private half of"},
		{lone, dead, "ssh-agent cannot be reached"},
		{foreign, noEnv, `the key is of the type "ssh-rsa"`},
		{foreign + ".pub", held, `the key is of the type "ssh-rsa"`},
		{text, noEnv, "not an OpenSSH key"},
		{text + "x", noEnv, "no such file"},
	} {
		signer, done, err := findKey(t.Context(), repository{}, c.name, c.env)
		if c.want != "" {
			require.ErrorContains(t, err, c.want)
			continue
		}
		require.NoError(t, err, c.name)
		_, key, err := Open(sealed(t, aStatement(), signer))
		done()
		require.NoError(t, err)
		require.Equal(t, signerOf(t, private).PublicKey().Marshal(), key.Marshal())
	}
}

// TestGitsSigningKey: without --key it is that of git, in each form that git knows.
func TestGitsSigningKey(t *testing.T) {
	r := aRepository(t)
	private := newEd25519(t)
	file, public := aKey(t, "", private)
	held := anAgent(t, private)
	_, _, err := findKey(t.Context(), r.repository, "", held)
	require.ErrorIs(t, err, errNoKey)
	require.Contains(t, message.Hint(err), "--key")
	line := strings.TrimSpace(string(must(os.ReadFile(public))))
	for _, value := range []string{file, public, "key::" + line, line} {
		r.git("config", "user.signingkey", value)
		signer, done, err := findKey(t.Context(), r.repository, "", held)
		require.NoError(t, err, value)
		require.Equal(t, signerOf(t, private).PublicKey().Marshal(), signer.PublicKey().Marshal())
		done()
	}
	r.git("config", "user.signingkey", "0A46826A")
	_, _, err = findKey(t.Context(), r.repository, "", held)
	require.ErrorContains(t, err, `git's user.signingkey is "0A46826A", which is not an OpenSSH key`)
}
