package proof

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"io"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

// signerOf returns a signer with a new key.
func signerOf(t testing.TB, key any) ssh.Signer {
	t.Helper()
	s, err := ssh.NewSignerFromKey(key)
	require.NoError(t, err)
	return s
}

func newEd25519(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	return key
}

// signersOfEachKind returns a signer with a key of each kind.
func signersOfEachKind(t testing.TB) map[string]ssh.Signer {
	all := map[string]ssh.Signer{"ed25519": signerOf(t, newEd25519(t)), "in a device": newDevice(t)}
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		all["ecdsa "+curve.Params().Name] = signerOf(t, must(ecdsa.GenerateKey(curve, rand.Reader)))
	}
	return all
}

// device is a key in a device that a person touches: its signatures are over more than what is signed.
type device struct {
	public  ssh.PublicKey
	private ed25519.PrivateKey
}

const application = "ssh:"

func newDevice(t testing.TB) device {
	t.Helper()
	private := newEd25519(t)
	public, err := ssh.ParsePublicKey(ssh.Marshal(struct {
		Name string
		Key  []byte
		App  string
	}{ssh.KeyAlgoSKED25519, private.Public().(ed25519.PublicKey), application}))
	require.NoError(t, err)
	return device{public, private}
}

func (d device) PublicKey() ssh.PublicKey { return d.public }

func (d device) Sign(_ io.Reader, data []byte) (*ssh.Signature, error) {
	const present = 1
	app, digest := sha256.Sum256([]byte(application)), sha256.Sum256(data)
	rest := binary.BigEndian.AppendUint32([]byte{present}, 7) // the flags and the counter
	signed := bytes.Join([][]byte{app[:], rest, digest[:]}, nil)
	return &ssh.Signature{Format: ssh.KeyAlgoSKED25519, Blob: ed25519.Sign(d.private, signed), Rest: rest}, nil
}

var someTime = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// aWorkflow is that of aRun, with its digest.
const aWorkflow = `[{"id": 1, "subject": "Test", "check": "make test"}, {"id": 2, "subject": "Sign"}]`

// aNested is a workflow under the first step of aRun.
const aNested = `[{"id": 1, "subject": "List"}]`

// nest puts aNested under the first step of a run.
func nest(r *Run) {
	list := r.Steps[1]
	list.ID, list.Skill, list.Under, list.Subject = 7, "notes", 1, "List"
	r.Steps = append(r.Steps, list)
	r.Nested = []Nested{{"notes", 1, File{Path: "skills/notes/fsm.json", SHA256: digest(aNested)}}}
}

// aRun is a run of two steps that ended at someTime.
func aRun() Run {
	check := &Check{Run: "make test", SHA256: strings.Repeat("c", 64), Bytes: 12}
	return Run{ID: "1", Skill: "release", Project: ".", FSM: File{Path: "skills/release/fsm.json", SHA256: strings.Repeat("f", 64)},
		Fsmtx: "1.0.0",
		Began: someTime.Add(-time.Hour), Ended: someTime, Overrides: []Override{}, Unenforced: []Span{},
		Steps: []Step{{ID: 1, Subject: "Test", State: isDone, Outcome: "done", Rounds: 1, Began: someTime.Add(-time.Hour), Ended: someTime,
			Decisions: []Decision{{Time: someTime, Round: 1, To: "completed", Decision: "allow", Outcome: "done",
				Who: "agent", How: "update", Check: check}}},
			{ID: 2, Subject: "Sign", State: isDone, Outcome: "done", Rounds: 1, Ended: someTime, Decisions: []Decision{{Time: someTime, Round: 1,
				To: "completed", Decision: "allow", Outcome: "done", Who: "agent", How: "update"}}}},
		Evidence: Evidence{strings.Repeat("e", 64), 3}}
}

func aStatement() Statement {
	return newStatement(commitSubject(strings.Repeat("a", 40)), []Subject{fileSubject("dist/notes.md", strings.Repeat("b", 64))}, aRun())
}

func sealed(t testing.TB, s Statement, signer ssh.Signer) []byte {
	t.Helper()
	text, err := seal(s, signer)
	require.NoError(t, err)
	return text
}

// TestEveryKindOfKeySigns: what a key of each kind has signed is opened with that key and gives the same statement.
func TestEveryKindOfKeySigns(t *testing.T) {
	for name, signer := range signersOfEachKind(t) {
		t.Run(name, func(t *testing.T) {
			s, key, err := Open(sealed(t, aStatement(), signer))
			require.NoError(t, err)
			require.Equal(t, signer.PublicKey().Marshal(), key.Marshal())
			require.Equal(t, aStatement(), s)
		})
	}
	_, err := seal(aStatement(), signerOf(t, must(rsa.GenerateKey(rand.Reader, 2048))))
	require.ErrorContains(t, err, `the key is of the type "ssh-rsa"; want ed25519 or ecdsa`)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestOneChangedByteAnywhereFails: of every byte of an envelope a bit is changed, and each byte is left out.
func TestOneChangedByteAnywhereFails(t *testing.T) {
	all := signersOfEachKind(t)
	for _, signer := range []ssh.Signer{all["ed25519"], all["ecdsa P-256"]} {
		whole := sealed(t, aStatement(), signer)
		for i := range whole {
			changed := bytes.Clone(whole)
			changed[i] ^= byte(1 << mathrand.IntN(8))
			_, _, err := Open(changed)
			require.Error(t, err, "byte %d is %q", i, changed[i])
			_, _, err = Open(append(bytes.Clone(whole[:i]), whole[i+1:]...))
			require.Error(t, err, "byte %d is missing", i)
		}
		_, _, err := Open(append(bytes.Clone(whole), '\n'))
		require.Error(t, err)
		_, _, err = Open(whole)
		require.NoError(t, err)
	}
}

// TestHostileEnvelopes: each is refused, and says why.
func TestHostileEnvelopes(t *testing.T) {
	signer := signerOf(t, newEd25519(t))
	text := string(sealed(t, aStatement(), signer))
	payload := must(aStatement().encode())
	replaced := func(old, new string) string {
		require.Contains(t, text, old)
		return strings.Replace(text, old, new, 1)
	}
	signature := text[strings.Index(text, `{"keyid"`):strings.Index(text, `]}`)]
	sig := signature[strings.Index(signature, `"sig":"`)+7 : len(signature)-2]
	blob := must(base64.StdEncoding.DecodeString(sig))
	withBlob := func(change func(*sshsig)) string {
		var b sshsig
		require.NoError(t, ssh.Unmarshal(blob, &b))
		change(&b)
		return replaced(sig, base64.StdEncoding.EncodeToString(ssh.Marshal(b)))
	}
	other := func(data []byte) string { // signed as it stands
		e := envelope{payloadType, base64.StdEncoding.EncodeToString(data), nil}
		e.Signatures = []signatureOf{{ssh.FingerprintSHA256(signer.PublicKey()), base64.StdEncoding.EncodeToString(must(sign(signer,
			preAuthentication(payloadType, data))))}}
		return string(must(e.encode()))
	}
	with := func(change func(*Statement)) string {
		s := aStatement()
		change(&s)
		return other(must(s.encode()))
	}
	inPayload := func(old, new string) string { return other(bytes.Replace(payload, []byte(old), []byte(new), 1)) }
	rsaSigner := signerOf(t, must(rsa.GenerateKey(rand.Reader, 2048)))
	for want, hostile := range map[string]string{
		"it is not a DSSE envelope":            "{}x",
		"its payloadType is":                   `{}`,
		"it is not signed":                     string(sealed(t, aStatement(), nil)),
		"has 2 signatures, want one":           replaced(signature, signature+","+signature),
		"1:15: duplicate":                      replaced(`{"payloadType"`, `{"payload":"","payload"`),
		`unknown member "more"`:                replaced(`{"payloadType"`, `{"more":1,"payloadType"`),
		"it is not spelled as fsmtx writes it": replaced(`{"payloadType"`, `{ "payloadType"`),
		"its keyid is":                         replaced("SHA256:", "SHA256:x"),
		"its payload: want base64":             replaced(`"payload":"`, `"payload":"!`),
		"its signature: want base64":           replaced(`"sig":"`, `"sig":"!`),
		"not one of ssh-keygen -Y":             withBlob(func(b *sshsig) { b.Magic[0] = 'x' }),
		"of version 2":                         withBlob(func(b *sshsig) { b.Version = 2 }),
		`for the namespace "git"`:              withBlob(func(b *sshsig) { b.Namespace = "git" }),
		`of a "sha256" digest`:                 withBlob(func(b *sshsig) { b.Hash = "sha256" }),
		"a reserved field":                     withBlob(func(b *sshsig) { b.Reserved = []byte("x") }),
		"no key that can be read":              withBlob(func(b *sshsig) { b.Key = []byte("x") }),
		`of the type "ssh-rsa"`:                withBlob(func(b *sshsig) { b.Key = rsaSigner.PublicKey().Marshal() }),
		"something was changed since":          withBlob(func(b *sshsig) { b.Key = signerOf(t, newEd25519(t)).PublicKey().Marshal() }),
		"it is too large":                      text + strings.Repeat(" ", maxBytes),
		"_type is":                             with(func(s *Statement) { s.Type = "x" }),
		"predicateType is":                     with(func(s *Statement) { s.PredicateType = "x" }),
		"it has no subject":                    with(func(s *Statement) { s.Subject = nil }),
		"names no skill":                       with(func(s *Statement) { s.Predicate.Steps = nil }),
		"neither a commit nor a tree":          with(func(s *Statement) { s.Subject = s.Subject[1:] }),
		"of its commit is not one of git":      with(func(s *Statement) { s.Subject[0].Digest.Commit = "HEAD" }),
		`"../x" is not a path`:                 with(func(s *Statement) { s.Subject[1].Name = "../x" }),
		`"/x" is not a path`:                   with(func(s *Statement) { s.Subject[1].Name = "/x" }),
		`is named twice`:                       with(func(s *Statement) { s.Subject = append(s.Subject, s.Subject[1]) }),
		`"../fsm.json" is not a path`:          with(func(s *Statement) { s.Predicate.FSM.Path = "../fsm.json" }),
		"the statement in it: ":                inPayload(`"_type"`, `"_type": "", "_type"`),
		"the statement in it: 2:3: unknown":    inPayload(`"_type"`, `"more": [], "_type"`),
		"exceeded max depth":                   inPayload(`"_type": "`, `"_type": `+strings.Repeat("[", 20_000)+`"`),
	} {
		_, _, err := Open([]byte(hostile))
		require.ErrorContains(t, err, want)
	}
}

// TestNothingIsLookedAtBeforeItsSignature: a payload that is no statement is refused for its signature.
func TestNothingIsLookedAtBeforeItsSignature(t *testing.T) {
	e := envelope{payloadType, base64.StdEncoding.EncodeToString([]byte("{")), nil}
	whole := must(sign(signerOf(t, newEd25519(t)), []byte("another message")))
	e.Signatures = []signatureOf{{"x", base64.StdEncoding.EncodeToString(whole)}}
	_, _, err := Open(must(e.encode()))
	require.ErrorIs(t, err, errSignature)
}

// TestTheCommandsOfThePageVerify: those of docs/internals/attestation.md, with ssh-keygen.
func TestTheCommandsOfThePageVerify(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not there")
	}
	page := string(must(os.ReadFile("../../docs/internals/attestation.md")))
	_, script, _ := strings.Cut(page, "```sh\n")
	script, _, _ = strings.Cut(script, "```")
	for name, signer := range signersOfEachKind(t) {
		dir := t.TempDir()
		run := func(statement []byte) (string, error) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "release.intoto.json"), statement, 0o600))
			c := exec.Command("sh", "-c", script)
			c.Dir = dir
			out, err := c.CombinedOutput()
			return string(out), err
		}
		line := append([]byte("ada@example.org "), ssh.MarshalAuthorizedKey(signer.PublicKey())...)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "allowed_signers"), line, 0o600))
		whole := sealed(t, aStatement(), signer)
		out, err := run(whole)
		require.NoError(t, err, name, out)
		require.Contains(t, out, `Good "fsmtx" signature for ada@example.org`, name)
		whole[bytes.Index(whole, []byte(`"payload":"`))+20] ^= 1
		out, err = run(whole)
		require.Error(t, err, out)
	}
}
