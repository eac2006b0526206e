package locator

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the longest command name in bytes: no path can contain a longer one.
const maxName = 4096

// CheckName returns a [*NameError] unless every part of the command name is a plain
// file name. Colons separate the parts. If there are two, the first may be a path: the
// directory of a nested skill, relative to the start directory.
func CheckName(command string) error {
	if reason := refusal(command); reason != "" {
		return &NameError{command, reason}
	}
	return nil
}

// refusal returns why command is not a valid name, or "".
func refusal(command string) string {
	switch {
	case command == "":
		return "it is empty"
	case len(command) > maxName:
		return fmt.Sprintf("it is longer than %d bytes", maxName)
	case !utf8.ValidString(command):
		return "it is not valid UTF-8"
	case strings.ContainsFunc(command, unicode.IsControl):
		return "it contains a control character"
	}
	parts := strings.Split(command, ":")
	if len(parts) == 2 {
		parts = append(strings.Split(parts[0], "/"), parts[1])
	}
	for _, part := range parts {
		switch {
		case strings.ContainsAny(part, `/\`):
			return "it contains a path separator"
		case part == "":
			return "it has an empty part"
		case part == ".", part == "..":
			return "it has a part \"" + part + "\""
		}
	}
	return ""
}
