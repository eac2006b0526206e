package agent

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// passedOn are the variables by which fsmtx finds its lists, its log and skills. Codex starts a server without
// those that env_vars does not name (measured with 0.169.0), and a list elsewhere would be another one than
// that of the hooks and the shell.
func passedOn() []string {
	return []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "FSMTX_LOG", "XDG_STATE_HOME"}
}

// envVars is the key of the list of the variables that a server is started with.
const envVars = "env_vars"

// lacking returns those of passedOn that a server is started without: its list does not name them, as a text or
// with where they come from, and it does not set them itself. A list of another kind is for Codex to judge.
func lacking(server tables) []string {
	named, is := server[envVars].([]any)
	if _, set := server[envVars]; set && !is {
		return nil
	}
	return slices.DeleteFunc(passedOn(), func(name string) bool {
		_, set := server.at("env")[name]
		return set || slices.ContainsFunc(named, func(v any) bool {
			of, _ := v.(map[string]any)
			return v == name || of["name"] == name
		})
	})
}

// withVars returns the file with the variables that its server lacks, and everything else as it is: in front of
// the list that it has, or in a list of its own. Each place where the text may belong is tried, and the right one
// is that with which the file says what it should. The error is ErrTable.
func withVars(data []byte) ([]byte, error) {
	all, err := decode(data)
	if err != nil {
		return nil, err
	}
	server := all.server()
	names := lacking(server)
	if len(names) == 0 {
		return data, nil
	}
	had, listed := server[envVars].([]any)
	list := quotedList(names)
	wanted := make([]any, 0, len(names)+len(had))
	for _, name := range names {
		wanted = append(wanted, name)
	}
	server[envVars] = append(wanted, had...)
	var places []insertion
	if listed {
		places = inList(data, list, len(had) > 0)
	} else {
		places = slices.Concat(belowCommand(data, envVars+" = ["+list+"]"), afterEach(data, 0, '{', envVars+" = ["+list+"], "))
	}
	for _, one := range places {
		out := slices.Concat(data[:one.at], []byte(one.text), data[one.at:])
		if after, err := decode(out); err == nil && after.equal(all) {
			return out, nil
		}
	}
	return nil, fmt.Errorf("1:1: %w", ErrTable)
}

// quotedList returns the elements of a list as they are written in the file.
func quotedList(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }

// insertion is a text and where it may belong in a file.
type insertion struct {
	at   int
	text string
}

// inList returns the places where a list of variables may begin, which has elements or is empty.
func inList(data []byte, list string, filled bool) []insertion {
	if filled {
		list += ", "
	}
	return afterEach(data, max(0, bytes.Index(data, []byte(envVars))), '[', list)
}

// afterEach returns the places behind a bracket, from a place on.
func afterEach(data []byte, from int, bracket byte, text string) (all []insertion) {
	for at := from; at < len(data); at++ {
		if data[at] == bracket {
			all = append(all, insertion{at + 1, text})
		}
	}
	return all
}

// belowCommand returns the places below each line that may set the program of the server. The text gets the
// indentation of that line, and the tables before a dotted key.
func belowCommand(data []byte, text string) (all []insertion) {
	at := 0
	for line := range bytes.Lines(data) {
		at += len(line)
		if one, err := decode(line); err != nil || !one.sets("command") {
			continue
		}
		key, _, _ := strings.Cut(string(line), "=")
		before := strings.TrimRight(strings.TrimRight(key, " \t"), `"'`)
		before = strings.TrimRight(strings.TrimSuffix(before, "command"), `"'`)
		if end := ending(data); line[len(line)-1] == '\n' {
			all = append(all, insertion{at, before + text + end})
		} else {
			all = append(all, insertion{at, end + before + text})
		}
	}
	return all
}
