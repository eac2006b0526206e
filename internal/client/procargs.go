package client

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
)

var errProcargs = errors.New("unknown format of kern.procargs2")

// parseProcargs reads what macOS returns for kern.procargs2: the number of arguments in
// 4 bytes, the path of the program, NUL bytes as padding, and then the arguments and
// the environment, each ended by a NUL byte.
func parseProcargs(data []byte) ([]string, error) {
	if len(data) < 4 {
		return nil, errProcargs
	}
	n := binary.NativeEndian.Uint32(data)
	_, rest, _ := bytes.Cut(data[4:], []byte{0})
	args := strings.SplitN(strings.TrimLeft(string(rest), "\x00"), "\x00", int(min(n, 1<<20))+1)
	if uint32(len(args)) <= n { // the last element is the text after the arguments
		return nil, errProcargs
	}
	return args[:n], nil
}
