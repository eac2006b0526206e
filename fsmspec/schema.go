package fsmspec

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Schema returns the format as a JSON Schema (draft 2020-12), indented, for editors and
// other validators. It is generated from the table of fields that Parse uses.
//
// A schema cannot express everything that Parse checks: that ids are unique, that blocks
// and blockedBy name tasks of the file, how deep a file may be nested, how strings and
// keys may be spelled, and some rules of gates. In one thing it is stricter: Parse only
// warns of an unknown field that is not similar to any other, but the schema refuses the
// field, so that an editor marks it.
func Schema() []byte {
	var properties, needed []string
	for _, f := range fields {
		properties = append(properties, quote(f.name)+":"+f.schema())
		if f.required {
			needed = append(needed, quote(f.name))
		}
	}
	text := fmt.Sprintf(`{
"$schema": "https://json-schema.org/draft/2020-12/schema",
"title": "fsm.json",
"description": "The workflow of a skill: tasks with dependencies, which fsmtx puts into the client's task list.",
"type": "array",
"maxItems": %d,
"items": {
  "type": "object",
  "properties": {%s},
  "required": [%s],
  "additionalProperties": false
}}`, MaxTasks, strings.Join(properties, ","), strings.Join(needed, ","))
	// text is valid JSON, so there is no error.
	schema, _ := jsontext.AppendFormat(nil, []byte(text), jsontext.WithIndent("  "))
	return append(schema, '\n')
}

// schema returns the schema of the field's value. An optional field may be null.
func (f field) schema() string {
	types, rules := f.typ.schema()
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = quote(t)
	}
	if !f.required {
		names = append(names, quote("null"))
	}
	about := quote("description") + ":" + quote(description(f.name))
	return "{" + about + "," + quote("type") + ":[" + strings.Join(names, ",") + "]" + rules + "}"
}

// description says what a field is for, for people who write a file in an editor.
func description(field string) string {
	return map[string]string{ // a package variable would be filled at every start of a hook
		"id":          "The number by which other tasks of this file refer to this one. The task list has its own numbers.",
		"subject":     "What to do, in a few words and in the imperative. It is the task's title in the list.",
		"description": "What to do in detail, and how to see that it is done.",
		"activeForm":  "What the client shows while the task is in progress, such as \"Running the tests\".",
		"owner":       "Who does the task.",
		"status":      "How far the task is when the workflow starts. Without it the task is pending.",
		"blocks":      "Ids of the tasks that can start only after this one. Each of them gets this task in its blockedBy.",
		"blockedBy":   "Ids of the tasks that have to be completed before this one can start.",
		"produces": "Files that have to exist and not be empty when the task is completed. Each is a path relative to the project's directory, " +
			"or a pattern with *, ? or [] that has to match at least one file.",
		"check": "A shell command that has to exit 0 when the task is completed. As an object it has a time limit too: a number of seconds or a text " +
			"such as \"90s\", 5 minutes if left out, at most 30; and a directory, relative to the project's.",
		"approval": "A person has to say yes when the task is completed: true, or the question.",
		"ready":    "Files that have to exist and not be empty when the task is started, written like produces.",
		"metadata": "Anything else, kept with the task. Its key \"fsm\" is overwritten with the name of the skill.",
	}[field]
}

// visibleText matches a text that is not blank; see isBlank.
const visibleText = `[^\p{Z}\p{Cc}\p{Cf}]`

func (idType) schema() (types []string, rules string) {
	return []string{"integer"}, fmt.Sprintf(`,"minimum":1,"maximum":%d`, MaxLocalID)
}

func (x textType) schema() (types []string, rules string) {
	if x.visible {
		rules = `,"pattern":` + quote(visibleText)
	}
	return []string{"string"}, rules
}

func (statusType) schema() (types []string, rules string) {
	var words []string
	for _, word := range statuses.words {
		words = append(words, quote(word))
	}
	return []string{"string"}, `,"enum":[` + strings.Join(words, ",") + `,null],"default":` + words[Pending]
}

func (idsType) schema() (types []string, rules string) {
	return []string{"array"}, fmt.Sprintf(`,"items":{"type":"integer","minimum":1,"maximum":%d}`, MaxLocalID)
}

func (metadataType) schema() (types []string, rules string) { return []string{"object"}, "" }

// Regular expressions about paths of the project: see pathFault and patternFault.
const (
	outsideProject   = `^(/|~|[A-Za-z]:)|(^|/)\.\.(/|$)|\$\{|\p{Cc}`
	notPattern       = `(^|/)\.?$|^!|\*\*|\[!|\{.*,.*\}`
	escapedWildcards = `^([^\\]|\\[*?\[\]\\])*$`
	noBackslash      = `^[^\\]*$`
	duration         = `^\+?(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`
)

// pathRules returns the rules of a string that is a path of the project.
func pathRules(backslashes, not string) string {
	return fmt.Sprintf(`,"pattern":%s,"allOf":[{"pattern":%s},{"not":{"type":"string","pattern":%s}}]`, quote(visibleText), quote(backslashes), quote(not))
}

func (patternsType) schema() (types []string, rules string) {
	return []string{"array"}, fmt.Sprintf(`,"maxItems":%d,"items":{"type":"string"%s}`, MaxPatterns, pathRules(escapedWildcards, outsideProject+"|"+notPattern))
}

func (checkType) schema() (types []string, rules string) {
	command := `,"pattern":` + quote(visibleText) + `,"not":{"type":"string","pattern":"\u0000"}`
	timeout := fmt.Sprintf(`{"type":["number","string","null"],"exclusiveMinimum":0,"maximum":%d,"pattern":%s}`, int(MaxCheckTimeout/time.Second), quote(duration))
	members := `"run":{"type":"string"` + command + `},"timeout":` + timeout + `,"dir":{"type":["string","null"]` + pathRules(noBackslash, outsideProject) + `}`
	return []string{"string", "object"}, command + `,"properties":{` + members + `},"required":["run"],"additionalProperties":false`
}

func (approvalType) schema() (types []string, rules string) {
	return []string{"boolean", "string"}, `,"pattern":` + quote(visibleText) + `,"not":{"anyOf":[{"const":false},{"type":"string","pattern":` + quote(`[^\P{Cc}\n\t]`) + `}]}`
}

func quote(text string) string { return string(appendQuoted(nil, text)) }
