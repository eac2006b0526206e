package terminal

import "fmt"

// Count returns a number with its noun: "1 task", "2 tasks". The plural ends in s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
