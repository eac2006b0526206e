package mcp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// inbox passes on the lines of the client that are messages, and answers the others with an
// error: the library ends the connection at the first line that it cannot read.
type inbox struct {
	io.Closer
	lines *bufio.Reader
	out   io.Writer
	left  []byte // of the line that is being read
}

func newInbox(in io.ReadCloser, out io.Writer) *inbox {
	return &inbox{Closer: in, lines: bufio.NewReader(in), out: out}
}

func (b *inbox) Read(p []byte) (int, error) {
	for len(b.left) == 0 {
		line, tooLong, err := b.line()
		code, why := fault(line, tooLong)
		switch {
		case why != "":
			if _, err := fmt.Fprintf(b.out, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, why); err != nil {
				return 0, err
			}
		case len(bytes.TrimSpace(line)) > 0:
			b.left = append(bytes.TrimRight(line, "\r\n"), '\n')
		}
		if err != nil && len(b.left) == 0 {
			return 0, err
		}
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}

// line reads one line. Of a line longer than maxLine it returns nothing.
func (b *inbox) line() (line []byte, tooLong bool, err error) {
	for {
		part, err := b.lines.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxLine; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return line, tooLong, err
		}
	}
}

// fault returns what is wrong with a line, with its code in JSON-RPC, and "" for a message
// or an empty line.
func fault(line []byte, tooLong bool) (code int, why string) {
	line = bytes.TrimSpace(line)
	switch {
	case tooLong:
		return jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", maxLine)
	case len(line) == 0:
		return 0, ""
	case !jsontext.Value(line).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)):
		return jsonrpc.CodeParseError, "the line is not JSON"
	case line[0] == '[':
		return jsonrpc.CodeInvalidRequest, "batches are not supported: send one message per line"
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return jsonrpc.CodeInvalidRequest, "the line is not a message of JSON-RPC 2.0"
	}
	return 0, ""
}

// outbox writes one message at a time.
type outbox struct {
	io.WriteCloser
	mu sync.Mutex
}

func (o *outbox) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.WriteCloser.Write(p)
}
