package proof

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"golang.org/x/crypto/ssh"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// maxBytes limits an envelope.
const maxBytes = 16 << 20

// envelope is a DSSE envelope.
type envelope struct {
	PayloadType string        `json:"payloadType"`
	Payload     string        `json:"payload"` // base64
	Signatures  []signatureOf `json:"signatures"`
}

type signatureOf struct {
	KeyID string `json:"keyid"` // the fingerprint of the key, as ssh-keygen -l prints it
	Sig   string `json:"sig"`   // base64 of an SSHSIG over the pre-authentication encoding
}

// Errors of Open.
var (
	errUnsigned  = errors.New("it is not signed")
	errSignature = errors.New("the signature is not of this key and this content: something was changed since, or it was damaged")
)

// seal returns the envelope of a statement, signed; not signed if signer is nil.
func seal(s Statement, signer ssh.Signer) ([]byte, error) {
	payload, err := s.encode()
	if err != nil {
		return nil, err
	}
	e := envelope{payloadType, base64.StdEncoding.EncodeToString(payload), []signatureOf{}}
	if signer != nil {
		blob, err := sign(signer, preAuthentication(payloadType, payload))
		if err != nil {
			return nil, err
		}
		e.Signatures = []signatureOf{{ssh.FingerprintSHA256(signer.PublicKey()), base64.StdEncoding.EncodeToString(blob)}}
	}
	text, err := e.encode()
	if len(text) > maxBytes {
		return nil, fmt.Errorf("the statement is too large: %d bytes, at most %d", len(text), maxBytes)
	}
	return text, err
}

// encode returns the envelope as a line. It is the one form in which an envelope is accepted, so that a change of any byte shows.
func (e envelope) encode() ([]byte, error) {
	text, err := json.Marshal(e)
	return append(text, '\n'), err
}

// Open verifies the signature of an envelope, and returns the statement in it with the key that signed it. Nothing of the
// statement is looked at before.
//
// Errors: errUnsigned, that the signature does not hold, and that the envelope or the statement is not one.
func Open(data []byte) (Statement, ssh.PublicKey, error) {
	e, payload, err := parseEnvelope(data)
	if err != nil {
		return Statement{}, nil, err
	}
	switch len(e.Signatures) {
	case 0:
		return Statement{}, nil, errUnsigned
	case 1:
	default:
		return Statement{}, nil, fmt.Errorf("it has %d signatures, want one", len(e.Signatures))
	}
	blob, err := canonical(e.Signatures[0].Sig)
	if err != nil {
		return Statement{}, nil, fmt.Errorf("its signature: %w", err)
	}
	key, err := verify(blob, preAuthentication(e.PayloadType, payload))
	if err != nil {
		return Statement{}, nil, err
	}
	if id := ssh.FingerprintSHA256(key); e.Signatures[0].KeyID != id {
		return Statement{}, nil, fmt.Errorf("its keyid is %q, but the key that signed it is %s", e.Signatures[0].KeyID, id)
	}
	s, err := parseStatement(payload)
	if err != nil {
		return Statement{}, nil, fmt.Errorf("the statement in it: %w", err)
	}
	return s, key, nil
}

// Read returns the statement in an envelope without looking at its signatures: to count it, not to rely on it.
func Read(data []byte) (Statement, error) {
	_, payload, err := parseEnvelope(data)
	if err != nil {
		return Statement{}, err
	}
	return parseStatement(payload)
}

func parseEnvelope(data []byte) (e envelope, payload []byte, err error) {
	if len(data) > maxBytes {
		return e, nil, fmt.Errorf("it is too large: over %d bytes", maxBytes)
	}
	if err := json.Unmarshal(data, &e, strictly); err != nil {
		return e, nil, fmt.Errorf("it is not a DSSE envelope: %w", jsonx.Explain(data, err))
	}
	if e.PayloadType != payloadType {
		return e, nil, fmt.Errorf("its payloadType is %q, want %q", e.PayloadType, payloadType)
	}
	if text, err := e.encode(); err != nil || !bytes.Equal(text, data) {
		return e, nil, errors.New("it is not spelled as fsmtx writes it: a line of JSON with payloadType, payload and signatures in this order")
	}
	if payload, err = canonical(e.Payload); err != nil {
		return e, nil, fmt.Errorf("its payload: %w", err)
	}
	return e, payload, nil
}

// canonical decodes base64 that is spelled in the one way in which this package writes it.
func canonical(text string) ([]byte, error) {
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || base64.StdEncoding.EncodeToString(data) != text {
		return nil, errors.New("want base64 with padding, and without line breaks")
	}
	return data, nil
}

// preAuthentication returns what is signed: DSSE's pre-authentication encoding.
func preAuthentication(kind string, payload []byte) []byte {
	return bytes.Join([][]byte{[]byte(fmt.Sprintf("DSSEv1 %d %s %d", len(kind), kind, len(payload))), payload}, []byte(" "))
}
