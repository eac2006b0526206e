package fsmspec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fsmtx/fsmtx/fsmspec"
)

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{10, 100, fsmspec.MaxTasks} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			data := []byte(many(n))
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := fsmspec.Parse(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{10, 100, fsmspec.MaxTasks} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			spec, err := fsmspec.Parse([]byte(many(n)))
			if err != nil {
				b.Fatal(err)
			}
			list := fsmspec.Snapshot{MaxID: int64(n)}
			for i := range n {
				list.Tasks = append(list.Tasks, fsmspec.Existing{Name: fmt.Sprintf("%d.json", i+1), Tag: "c", Subject: "Old", Status: "pending"})
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := spec.Plan("c", list, fsmspec.Policy{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkClassify(b *testing.B) {
	const manual = `{
  "id": "17",
  "subject": "Look into the flaky test of the importer",
  "description": "It fails about once in a hundred runs on the slow machine, always in the same place.",
  "activeForm": "Looking into the flaky test",
  "status": "in_progress",
  "blocks": [],
  "blockedBy": [
    "12"
  ]
}`
	tagged := strings.TrimSuffix(manual, "\n}") + ",\n  \"metadata\": {\n    \"fsm\": \"my-plugin:my-skill\"\n  }\n}"
	for name, file := range map[string]string{"manual": manual, "tagged": tagged, "foreign": "[" + manual + "]", "torn": manual[:200]} {
		b.Run(name, func(b *testing.B) {
			data := []byte(file)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				fsmspec.Classify("17.json", data)
			}
		})
	}
}
