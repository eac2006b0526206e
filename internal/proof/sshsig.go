package proof

import (
	"crypto/rand"
	"crypto/sha512"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// namespace is that of our signatures: one that was made for git or for a login is not valid here.
const namespace = "fsmtx"

const (
	sigMagic   = "SSHSIG" // OpenSSH's PROTOCOL.sshsig
	sigVersion = 1
	sigHash    = "sha512"
)

// checkAlgorithm returns an error for a key that may not sign. Names that begin with sk- are of keys in a device.
func checkAlgorithm(name string) error {
	switch name {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256:
		return nil
	}
	return fmt.Errorf("the key is of the type %q; want ed25519 or ecdsa", name)
}

// sshsig is a signature in the form that ssh-keygen -Y writes, without its armor.
type sshsig struct {
	Magic     [len(sigMagic)]byte
	Version   uint32
	Key       []byte
	Namespace string
	Reserved  []byte
	Hash      string
	Signature []byte
}

// signed is what such a signature signs.
type signed struct {
	Magic     [len(sigMagic)]byte
	Namespace string
	Reserved  []byte
	Hash      string
	Digest    []byte
}

func toSign(message []byte) []byte {
	digest := sha512.Sum512(message)
	return ssh.Marshal(signed{[len(sigMagic)]byte([]byte(sigMagic)), namespace, nil, sigHash, digest[:]})
}

func sign(signer ssh.Signer, message []byte) ([]byte, error) {
	key := signer.PublicKey()
	if err := checkAlgorithm(key.Type()); err != nil {
		return nil, err
	}
	s, err := signer.Sign(rand.Reader, toSign(message))
	if err != nil {
		return nil, fmt.Errorf("the key did not sign: %w", err)
	}
	blob := ssh.Marshal(sshsig{[len(sigMagic)]byte([]byte(sigMagic)), sigVersion, key.Marshal(), namespace, nil, sigHash, ssh.Marshal(s)})
	_, err = verify(blob, message) // an agent may answer anything
	return blob, err
}

// verify returns the key that has signed the message.
func verify(blob, message []byte) (ssh.PublicKey, error) {
	var sig sshsig
	if err := ssh.Unmarshal(blob, &sig); err != nil || string(sig.Magic[:]) != sigMagic {
		return nil, fmt.Errorf("its signature is not one of ssh-keygen -Y")
	}
	switch {
	case sig.Version != sigVersion:
		return nil, fmt.Errorf("its signature is of version %d, want %d", sig.Version, sigVersion)
	case sig.Namespace != namespace:
		return nil, fmt.Errorf("its signature is for the namespace %q, want %q", sig.Namespace, namespace)
	case sig.Hash != sigHash:
		return nil, fmt.Errorf("its signature is of a %q digest, want %q", sig.Hash, sigHash)
	case len(sig.Reserved) > 0:
		return nil, fmt.Errorf("its signature uses a reserved field")
	}
	key, err := ssh.ParsePublicKey(sig.Key)
	if err != nil {
		return nil, fmt.Errorf("its signature has no key that can be read: %w", err)
	}
	if err := checkAlgorithm(key.Type()); err != nil {
		return nil, err
	}
	var s ssh.Signature
	if err := ssh.Unmarshal(sig.Signature, &s); err != nil || key.Verify(toSign(message), &s) != nil {
		return nil, errSignature
	}
	return key, nil
}
