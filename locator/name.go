package locator

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName bounds a command name in bytes: a longer one fits in no path.
const maxName = 4096

// CheckName returns a [*NameError] unless every part of the command name, the
// parts being separated by colons, can be used as the name of a folder and
// leads nowhere else.
func CheckName(command string) error {
	if reason := unfit(command); reason != "" {
		return &NameError{command, reason}
	}
	return nil
}

func unfit(command string) string {
	switch {
	case command == "":
		return "it is empty"
	case len(command) > maxName:
		return fmt.Sprintf("it is longer than %d bytes", maxName)
	case !utf8.ValidString(command):
		return "it is not valid UTF-8"
	case strings.ContainsFunc(command, unicode.IsControl):
		return "it contains a control character"
	case strings.ContainsAny(command, `/\`):
		return "it contains a path separator"
	}
	for part := range strings.SplitSeq(command, ":") {
		switch part {
		case "":
			return "it has an empty part"
		case ".", "..":
			return "a part of it is " + part
		}
	}
	return ""
}
