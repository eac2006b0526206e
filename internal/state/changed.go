package state

import (
	"cmp"
	"hash/crc32"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// Definition returns a checksum of each part of an fsm.json, without its white space: of the steps by their
// ids, and of what else the file has by its name.
func Definition(data []byte) map[string]string {
	members, err := jsonx.Members(data)
	if err != nil { // an array
		members = map[string]jsontext.Value{"steps": data}
	}
	var entries []jsontext.Value
	_ = json.Unmarshal(members["steps"], &entries, jsonx.Tolerant) // the file was parsed before
	delete(members, "steps")
	for _, entry := range entries {
		members[strings.Trim(string(jsonx.Member(entry, "id")), `"`)] = entry
	}
	all := map[string]string{}
	for name, value := range members {
		value = value.Clone()
		_ = value.Compact()
		all[name] = string(digits(crc32.ChecksumIEEE(value)))
	}
	return all
}

// Changes says in what the definition of a workflow differs from the one that it replaces, empty if it does not:
// "steps 2 and 4 differ, vars differs".
func Changes(old, now *workflow.Workflow) string {
	all := maps.Clone(now.Definition)
	maps.Copy(all, old.Definition)
	maps.DeleteFunc(all, func(name, _ string) bool { return old.Definition[name] == now.Definition[name] })
	var steps, parts []string
	for _, name := range slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) }) {
		if _, err := strconv.Atoi(name); err == nil {
			steps = append(steps, name)
		} else {
			parts = append(parts, message.Words(name)+" differs")
		}
	}
	switch len(steps) {
	case 0:
	case 1:
		parts = slices.Insert(parts, 0, "step "+steps[0]+" differs")
	default:
		parts = slices.Insert(parts, 0, "steps "+message.Sentence(steps)+" differ")
	}
	return strings.Join(parts, ", ")
}

// changed is what a hydration has on record for the person, its number and its id.
type changed struct {
	Text string
	At   int64
	id   string
}
