package outline

import (
	"bytes"
	"regexp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Format is the format of another program's workflow.
type Format string

// The formats.
const (
	Unknown    Format = ""
	TaskMaster Format = "a tasks.json of task-master"
	Task       Format = "a task of task-master"
	Formula    Format = "a formula of beads"
	SpecKit    Format = "a workflow of Spec Kit"
)

// Recognise returns the format of a file, by its content.
func Recognise(data []byte) Format {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if kind := jsontext.Value(bytes.TrimSpace(data)).Kind(); kind == '{' || kind == '[' {
		return ofJSON(data)
	}
	switch {
	case has(data, `formula\s*=\s*"`) && has(data, `\[\[(steps|template|advice)\]\]`), has(data, `formula:\s*\S`) && has(data, `steps:`):
		return Formula
	case has(data, `workflow:\s*$`) && has(data, `steps:`) && (has(data, `schema_version:`) || has(data, `\s+-?\s*command:\s*["']?speckit`)):
		return SpecKit
	}
	return Unknown
}

// has reports whether a line of the text begins with the expression.
func has(data []byte, line string) bool { return regexp.MustCompile(`(?m)^` + line).Match(data) }

func ofJSON(data []byte) Format {
	if jsonx.Check(data, jsonx.Tolerant) != nil {
		return Unknown
	}
	var list []jsontext.Value
	if json.Unmarshal(data, &list, jsonx.Tolerant) == nil {
		if anyTask(list) {
			return TaskMaster
		}
		return Unknown
	}
	top, err := jsonx.Members(bytes.TrimSpace(data))
	switch {
	case err != nil:
		return Unknown
	case top["formula"].Kind() == '"' && (top["steps"].Kind() == '[' || top["template"].Kind() == '[' || top["advice"].Kind() == '['):
		return Formula
	case top["workflow"].Kind() == '{' && top["steps"].Kind() == '[' && top["schema_version"] != nil:
		return SpecKit
	case isTask(bytes.TrimSpace(data)):
		return Task
	case hasTasks(top):
		return TaskMaster
	}
	for _, v := range top {
		if v.Kind() != '{' {
			continue
		}
		if tag, err := jsonx.Members(v); err == nil && hasTasks(tag) {
			return TaskMaster
		}
	}
	return Unknown
}

// hasTasks reports whether the object has a list of task-master's tasks. An empty list needs
// the metadata that task-master writes beside it.
func hasTasks(object map[string]jsontext.Value) bool {
	var list []jsontext.Value
	if object["tasks"].Kind() != '[' || json.Unmarshal(object["tasks"], &list, jsonx.Tolerant) != nil {
		return false
	}
	return anyTask(list) || len(list) == 0 && object["metadata"].Kind() == '{'
}

func anyTask(list []jsontext.Value) bool {
	for _, v := range list {
		if isTask(v) {
			return true
		}
	}
	return false
}

// isTask reports whether a value is a task of task-master: it has a title, no subject, and a
// member that an fsm.json does not have.
func isTask(v jsontext.Value) bool {
	if v.Kind() != '{' {
		return false
	}
	o, err := jsonx.Members(v)
	if err != nil || o["title"].Kind() != '"' || o["subject"] != nil || o["id"] == nil {
		return false
	}
	for _, name := range []string{"dependencies", "testStrategy", "subtasks", "details"} {
		if o[name] != nil {
			return true
		}
	}
	return false
}
