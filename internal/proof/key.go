package proof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxKey limits the file of a key, in bytes.
const maxKey = 64 << 10

// errNoKey is returned when there is no key to sign with.
var errNoKey = message.NewError("there is no key to sign with: no --key, and git has no user.signingkey",
	"--key ~/.ssh/id_ed25519, or its .pub file if ssh-agent holds the key; --no-sign writes the statement without a signature")

// findKey returns the key to sign with, and a function that lets the agent go. name is a private key file, or a public one whose
// private half ssh-agent holds or is the file beside it; if it is empty, it is git's user.signingkey.
func findKey(ctx context.Context, r repository, name string, getenv func(string) string) (ssh.Signer, func(), error) {
	var data []byte
	var err error
	if name == "" {
		if name, err = r.config(ctx, "user.signingkey"); err != nil {
			return nil, nil, err
		}
		if name == "" {
			return nil, nil, errNoKey
		}
		if text, ok := literalKey(name); ok {
			data, name = []byte(text), "git's user.signingkey"
		} else if !filepath.IsAbs(name) && !safefile.IsFile(name) {
			return nil, nil, message.WithHint(fmt.Errorf("git's user.signingkey is %q, which is not an OpenSSH key", name), "say one with --key")
		}
	}
	if data == nil {
		if data, err = safefile.ReadFile(name, maxKey, 0); err != nil {
			return nil, nil, err
		}
	}
	if public, _, _, _, err := ssh.ParseAuthorizedKey(data); err == nil {
		signer, done, err := fromAgent(public, name, getenv("SSH_AUTH_SOCK"))
		if private, isFile := strings.CutSuffix(name, ".pub"); err != nil && isFile { // as ssh-keygen does
			data, failed := safefile.ReadFile(private, maxKey, 0)
			if failed != nil {
				return nil, nil, err
			}
			beside, failed := parsePrivate(private, data)
			if failed != nil {
				return nil, nil, failed
			}
			if bytes.Equal(beside.PublicKey().Marshal(), public.Marshal()) {
				return beside, func() {}, nil
			}
		}
		return signer, done, err
	}
	signer, err := parsePrivate(name, data)
	return signer, func() {}, err
}

// parsePrivate parses the file of a private key.
func parsePrivate(name string, data []byte) (ssh.Signer, error) {
	signer, err := ssh.ParsePrivateKey(data)
	if _, ok := errors.AsType[*ssh.PassphraseMissingError](err); ok {
		return nil, message.WithHint(fmt.Errorf("%s is encrypted with a passphrase, which only ssh-agent asks for", name),
			"ssh-add "+name+", and name its public half: --key "+name+".pub")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: not an OpenSSH key: %s", name, strings.TrimPrefix(err.Error(), "ssh: "))
	}
	if err := checkAlgorithm(signer.PublicKey().Type()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return signer, nil
}

// literalKey returns the key in a value of user.signingkey that is one, and not a path.
func literalKey(value string) (string, bool) {
	text, marked := strings.CutPrefix(value, "key::")
	return text, marked || strings.HasPrefix(text, "ssh-") || strings.HasPrefix(text, "ecdsa-sha2-") || strings.HasPrefix(text, "sk-")
}

// fromAgent returns the key that ssh-agent holds. It may ask a person each time it signs.
func fromAgent(key ssh.PublicKey, name, socket string) (ssh.Signer, func(), error) {
	if err := checkAlgorithm(key.Type()); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if socket == "" {
		return nil, nil, message.WithHint(fmt.Errorf("%s is a public key, and no ssh-agent is running (SSH_AUTH_SOCK is not set)", name),
			"name the private file, or start ssh-agent and add the key")
	}
	connection, err := net.Dial("unix", socket)
	if err != nil {
		return nil, nil, fmt.Errorf("ssh-agent cannot be reached: %w", err)
	}
	done := func() { _ = connection.Close() }
	all, err := agent.NewClient(connection).Signers()
	if err != nil {
		done()
		return nil, nil, fmt.Errorf("ssh-agent: %w", err)
	}
	for _, s := range all {
		if bytes.Equal(s.PublicKey().Marshal(), key.Marshal()) {
			return s, done, nil
		}
	}
	done()
	return nil, nil, message.WithHint(fmt.Errorf("ssh-agent does not hold the private half of %s", name), "ssh-add the private file")
}
