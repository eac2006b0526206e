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
	var definitions []string
	for _, f := range fields {
		definitions = append(definitions, quote(f.name)+":"+f.schema())
	}
	text := fmt.Sprintf(`{
"$schema": "https://json-schema.org/draft/2020-12/schema",
"title": "fsm.json",
"description": %s,
"if": {"type": "object"},
"then": {
  "properties": {"fsm": {"description": "The version of the format.", "const": %d}, "shell": %s, "vars": %s, "steps": %s},
  "required": ["fsm", "steps"],
  "additionalProperties": false
},
"else": %s,
"$defs": {%s}}`, quote("The workflow of a skill: steps with dependencies, which fsmtx puts into the agent's task list. "+
		"An array of steps goes forward once; in the object form the steps have outcomes."),
		WithOutcomes, shellSchema, varsSchema(), tasksSchema(WithOutcomes), tasksSchema(Plain),
		strings.Join(append(definitions, `"step":`+stepSchema(WithOutcomes)), ","))
	// text is valid JSON, so there is no error.
	schema, _ := jsontext.AppendFormat(nil, []byte(text), jsontext.WithIndent("  "))
	return append(schema, '\n')
}

// tasksSchema returns the schema of the array of tasks in a version of the format.
func tasksSchema(version int) string {
	step := `{"$ref":"#/$defs/step"}`
	if version == Plain {
		step = stepSchema(version)
	}
	return fmt.Sprintf(`{"type":"array","maxItems":%d,"items":%s}`, MaxTasks, step)
}

// stepSchema returns the schema of a task in a version of the format.
func stepSchema(version int) string {
	var properties, needed []string
	for _, f := range fields {
		if f.use == outcomesOnly && version == Plain {
			continue
		}
		properties = append(properties, fmt.Sprintf(`%s:{"$ref":"#/$defs/%s"}`, quote(f.name), f.name))
		if f.use == required {
			needed = append(needed, quote(f.name))
		}
	}
	return fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`, strings.Join(properties, ","),
		strings.Join(needed, ","))
}

// valueName matches the name of a value, and reservedName those that no value may have.
const (
	valueName    = `^[a-z][a-z0-9_]{0,30}$`
	reservedName = `^(args|round|item|outcome|fsm|outcome_[0-9]+)$`
)

func valueNames() string {
	return fmt.Sprintf(`"propertyNames":{"pattern":%s,"not":{"pattern":%s}}`, quote(valueName), quote(reservedName))
}

func varsSchema() string {
	return fmt.Sprintf(`{"description":%s,"type":"object","maxProperties":%d,%s,"additionalProperties":{"type":"string"}}`,
		quote("Values that the workflow has from its beginning: names with default texts, in which {args} is replaced by the "+
			"arguments of the skill's call."),
		MaxVars, valueNames())
}

func (setType) schema() (types []string, rules string) {
	_, object := commandSchema("")
	object = strings.Replace(strings.TrimPrefix(object, ","), `"pattern":`+quote(visibleText)+
		`,"not":{"type":"string","pattern":"\u0000"},`, "", 1)
	return []string{"object"}, fmt.Sprintf(`,"minProperties":1,"maxProperties":%d,%s,"additionalProperties":{"type":["string","array",`+
		`"object"],"minLength":1,"maxLength":1000,`+
		`"minItems":1,"maxItems":%d,"uniqueItems":true,"items":{"type":["string","number","boolean"],"pattern":%s,"maxLength":%d,`+
		`"not":{"type":"string","pattern":"\\p{Cc}"}},%s}`,
		MaxSet, valueNames(), MaxPatterns, quote(visibleText), MaxValue, object)
}

func (withinType) schema() (types []string, rules string) {
	return []string{"number", "string"}, fmt.Sprintf(`,"exclusiveMinimum":0,"maximum":%d,"pattern":%s`, int(MaxWithin/time.Second),
		quote(duration))
}

// schema returns the schema of the field's value. An optional field may be null.
func (f field) schema() string {
	return "{" + quote("description") + ":" + quote(description(f.name)) + "," + typed(f.typ, f.use != required) + "}"
}

// typed returns the member "type" of a schema and the rules of the type.
func typed(t fieldType, nullable bool) string {
	types, rules := t.schema()
	if nullable {
		types = append(types, "null")
	}
	return `"type":["` + strings.Join(types, `","`) + `"]` + rules
}

// description says what a field is for, for people who write a file in an editor.
func description(field string) string {
	return map[string]string{ // a package variable would be filled at every start of a hook
		"id":          "The number by which other tasks of this file refer to this one. The task list has its own numbers.",
		"subject":     "What to do, in a few words and in the imperative. It is the task's title in the list.",
		"description": "What to do in detail, and how to see that it is done.",
		"activeForm":  "What a task list shows while the task is in progress, such as \"Running the tests\".",
		"owner":       "Who does the task.",
		"status":      "How far the task is when the workflow starts. Without it the task is pending.",
		"blocks":      "Ids of the tasks that can start only after this one. Each of them gets this task in its blockedBy.",
		"blockedBy":   "Ids of the tasks that have to be completed before this one can start.",
		"produces": "Files that have to exist and not be empty when the task is completed. Each is a path relative to the project's directory, " +
			"or a pattern with *, ? or [] that has to match at least one file.",
		"check": "A command of sh, or with \"shell\": \"powershell\" of PowerShell, that has to exit 0 when the task is completed. As an " +
			"object it has a time limit too: a number of seconds or a text " +
			"such as \"90s\", 5 minutes if left out, at most 30; and a directory, relative to the project's.",
		"approval": "A person has to say yes when the task is completed: true, or the question.",
		"ready":    "Files that have to exist and not be empty when the task is started, written like produces.",
		"outcomes": "The ways in which the step can end: names, or an object of names and effects. back leads back to a step, " +
			"max times at most, and then is the outcome " +
			"that is taken when max is spent; stop ends the workflow; produces, check and approval are gates of this outcome. failed is taken " +
			"when the step's own check fails.",
		"decides": "Who says in which outcome the step ends: the agent, a person, or a command whose last line of output is the outcome.",
		"do": "The steps that this one consists of, with ids of their own level: it can be completed when they are " +
			"done, and its gates hold then. " +
			"Or the name of a skill, which has to be called while the step is in progress.",
		"each": "The lines of a file, or of a command's output. What the step consists of, or the step itself, is done once for each of them. " +
			"With inTurn one line is done after the other.",
		"when": "The step is needed only if each of these steps ended in one of these outcomes. They come before it.",
		"only": "Permission rules, such as Bash(git push *), Write(src/**) or mcp__github__*: these calls are refused unless a step " +
			"that lists them is in progress.",
		"set": "Values that completing the step gives: names, each with a regular expression that has to match the whole value, " +
			"an array of values, or a command that prints it. " +
			"{name} is replaced by the value in subjects, descriptions, activeForm, questions and paths; commands get it as FSM_NAME.",
		"within": "A time limit, measured from the step's start in each round: a number of seconds or a text such as \"30m\". When it has " +
			"passed the step ends as late, if it can.",
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
	for _, word := range statuses {
		words = append(words, quote(word))
	}
	return []string{"string"}, `,"enum":[` + strings.Join(words, ",") + `,null],"default":` + words[Pending]
}

func (idsType) schema() (types []string, rules string) {
	return []string{"array"}, fmt.Sprintf(`,"items":{"type":"integer","minimum":1,"maximum":%d}`, MaxLocalID)
}

func (metadataType) schema() (types []string, rules string) { return []string{"object"}, "" }

// Regular expressions about paths of the project: see pattern.PathFault and patternFault.
const (
	outsideProject   = `^(/|~|[A-Za-z]:)|(^|/)\.\.(/|$)|\$\{|\p{Cc}`
	notPattern       = `(^|/)\.?$|^!|\*\*|\{([^a-z{]|$)`
	escapedWildcards = `^([^\\]|\\[*?\\])*$`
	noBackslash      = `^[^\\]*$`
	duration         = `^\+?(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`
)

// pathRules returns the rules of a string that is a path of the project.
func pathRules(backslashes, not string) string {
	return fmt.Sprintf(`,"pattern":%s,"allOf":[{"pattern":%s},{"not":{"type":"string","pattern":%s}}]`, quote(visibleText),
		quote(backslashes), quote(not))
}

func (patternsType) schema() (types []string, rules string) {
	return []string{"array"}, fmt.Sprintf(`,"maxItems":%d,"items":{"type":"string"%s}`, MaxPatterns,
		pathRules(escapedWildcards, outsideProject+"|"+notPattern))
}

func (checkType) schema() (types []string, rules string) {
	watch := fmt.Sprintf(`,"watch":{"type":["array","null"],"maxItems":%d,"items":{"type":"string"%s}}`, MaxPatterns,
		pathRules(escapedWildcards, outsideProject+`|(^|/)\.?$|^!|[^/]\*\*|\*\*[^/]|\{`))
	return commandSchema(watch)
}

const shellSchema = `{"enum":["` + posixShell + `","` + PowerShell + `",null]}`

// commandSchema is the schema of a command, or an object with one. more are members that it may have besides.
func commandSchema(more string) (types []string, rules string) {
	command := `,"pattern":` + quote(visibleText) + `,"not":{"type":"string","pattern":"\u0000"}`
	timeout := fmt.Sprintf(`{"type":["number","string","null"],"exclusiveMinimum":0,"maximum":%d,"pattern":%s}`,
		int(MaxCheckTimeout/time.Second), quote(duration))
	members := `"run":{"type":"string"` + command + `},"shell":` + shellSchema + `,"timeout":` + timeout +
		`,"dir":{"type":["string","null"]` +
		pathRules(noBackslash, outsideProject) + `}` +
		fmt.Sprintf(`,"env":{"type":["array","null"],"maxItems":%d,"items":{"type":"string","pattern":"^[A-Za-z_][A-Za-z0-9_]*$"}}`,
			MaxVariables) + more
	return []string{"string", "object"}, command + `,"properties":{` + members + `},"required":["run"],"additionalProperties":false`
}

func (outcomesType) schema() (types []string, rules string) {
	part := func(t fieldType) string { return "{" + typed(t, true) + "}" }
	effects := `"back":` + part(idType{}) + fmt.Sprintf(`,"max":{"type":["integer","null"],"minimum":1,"maximum":%d}`, MaxTimes) +
		`,"then":{"type":["string","null"]},"stop":{"enum":[true,null]},"produces":` + part(patternsType{}) + `,"check":` +
		part(checkType{}) + `,"approval":` + part(approvalType{})
	return []string{"array", "object"},
		fmt.Sprintf(`,"minItems":1,"maxItems":%[1]d,"uniqueItems":true,"items":{"type":"string","pattern":%[2]s},`+
			`"minProperties":1,"maxProperties":%[1]d,"propertyNames":{"pattern":%[2]s},"additionalProperties":{"type":["object","null"],`+
			`"properties":{%[3]s},"additionalProperties":false}`,
			MaxOutcomes, quote(outcomeName), effects)
}

// outcomeName matches the name of an outcome; see isOutcomeName.
const outcomeName = `^[a-z][a-z0-9-]{0,30}$`

func (decidesType) schema() (types []string, rules string) {
	_, object := commandSchema("")
	return []string{"string", "object"},
		fmt.Sprintf(`,"if":{"type":"string"},"then":{"enum":[%s,%s]},"else":{"if":{"type":"object"},"then":{%s}}`,
			quote(ByAgent.String()), quote(ByPerson.String()), strings.TrimPrefix(object, ","))
}

func (whenType) schema() (types []string, rules string) {
	return []string{"object"}, `,"minProperties":1,"propertyNames":{"pattern":"^([1-9][0-9]{0,5}|1000000)$"},` +
		`"additionalProperties":{"type":["string","array"],"items":{"type":"string"},"minItems":1}`
}

// skillPattern matches the name of a skill; see skillFault.
const skillPattern = `^[^/\p{Z}\p{C}:][^\p{Z}\p{C}:]*(:[^\p{Z}\p{C}:]+)*$`

func (doType) schema() (types []string, rules string) {
	return []string{"array", "string"}, fmt.Sprintf(`,"minItems":1,"maxItems":%d,"items":{"$ref":"#/$defs/step"},"maxLength":%d,"pattern":%s`,
		MaxTasks, maxSkillName, quote(skillPattern))
}

func (eachType) schema() (types []string, rules string) {
	_, check := commandSchema("")
	members := check[strings.Index(check, `"properties":{`)+len(`"properties":{`) : strings.Index(check, `},"required"`)]
	return []string{"object"}, `,"properties":{"lines":{"type":"string"` + pathRules(`^[^\\*?]*$`, outsideProject+`|(^|/)\.?$`) +
		`},"inTurn":{"type":["boolean","null"]},` + members + `},"additionalProperties":false,` +
		`"if":{"type":"object"},"then":{"oneOf":[{"required":["lines"],"properties":{"run":false,"shell":{"type":"null"},` +
		`"timeout":{"type":"null"},` +
		`"dir":{"type":"null"},"env":{"type":"null"}}},{"required":["run"],"properties":{"lines":false}}]}`
}

func (onlyType) schema() (types []string, rules string) {
	return []string{"array"}, fmt.Sprintf(`,"minItems":1,"maxItems":%d,"items":{"type":"string","maxLength":%d,"pattern":%s}`, MaxRules,
		MaxRuleLength, quote(`^([\p{L}\p{Nd}_-]+(\([^\p{Cc}]+\))?|mcp__[\p{L}\p{Nd}_*-]+)$`))
}

func (approvalType) schema() (types []string, rules string) {
	return []string{"boolean", "string"}, `,"pattern":` + quote(visibleText) +
		`,"not":{"anyOf":[{"const":false},{"type":"string","pattern":` + quote(`[^\P{Cc}\n\t]`) + `}]}`
}

func quote(text string) string { return string(appendQuoted(nil, text)) }
