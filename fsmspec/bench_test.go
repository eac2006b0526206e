package fsmspec_test

import (
	"fmt"
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
				list.Tasks = append(list.Tasks, fsmspec.Existing{ID: fmt.Sprint(i + 1), Number: int64(i + 1), Tag: "c", Subject: "Old",
					Status: "pending"})
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
