package mcp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/fsmtx/fsmtx/internal/jsonx"
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
			if _, err := fmt.Fprintf(b.out, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", idOf(line), code, why); err != nil {
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

// maxKept is the limit on a line in bytes up to which its id is answered.
const maxKept = 16 * maxLine

// line reads one line. Of a line longer than maxKept it returns nothing.
func (b *inbox) line() (line []byte, tooLong bool, err error) {
	for {
		part, err := b.lines.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxKept; tooLong {
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
	case tooLong || len(line) > maxLine:
		return jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", maxLine)
	case len(line) == 0:
		return 0, ""
	case !jsontext.Value(line).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)):
		return jsonrpc.CodeParseError, "the line is not JSON"
	case line[0] == '[':
		return jsonrpc.CodeInvalidRequest, "batches are not supported: send one message per line"
	}
	switch m, err := jsonrpc.DecodeMessage(line); {
	case err != nil:
		return jsonrpc.CodeInvalidRequest, "the line is not a message of JSON-RPC 2.0"
	case changesID(m, idOf(line)):
		return jsonrpc.CodeInvalidRequest, "the id has to be a text in UTF-8 or a whole number below 2^53"
	}
	return 0, ""
}

// changesID reports whether the library would answer a request with another id than its own: it
// reads numbers as floats, and replaces what is not UTF-8.
func changesID(m jsonrpc.Message, id string) bool {
	r, ok := m.(*jsonrpc.Request)
	if ok && r.IsCall() {
		if text, is := r.ID.Raw().(string); is && strings.ContainsRune(text, utf8.RuneError) {
			return true
		}
	}
	n, err := strconv.ParseFloat(id, 64)
	return ok && r.IsCall() && jsontext.Value(id).Kind() == '0' && (err != nil || n != math.Trunc(n) || math.Abs(n) >= 1<<53)
}

const maxID = 1000 // bytes of an id that is answered

// idOf returns the id of a request as it is written, "null" if the line has none. The id of an
// answer is the server's own: an error with it would end another request of the client.
func idOf(line []byte) string {
	members, _ := jsonx.Members(jsontext.Value(line))
	if id := members["id"]; members["method"] != nil && len(id) <= maxID && id.IsValid() && (id.Kind() == '"' || id.Kind() == '0') {
		return string(id)
	}
	return "null"
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
