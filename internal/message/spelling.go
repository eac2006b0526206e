package message

import (
	"strings"
	"unicode/utf8"
)

// SimilarNames reports whether two names of skills differ, and one was perhaps meant by the other:
// they have the same part after the last colon, or differ in at most two characters.
func SimilarNames(a, b string) bool {
	return a != b && (lastPart(a) == lastPart(b) || Distance(a, b, 3) <= min(2, len(a)/3))
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// Distance returns the edit distance of a and b, or limit if that is less: the
// smallest number of characters to insert, delete or replace, and of neighbours to exchange, to turn a into b (optimal
// string alignment). If the lengths alone differ by limit or more, the characters are not compared.
func Distance(a, b string, limit int) int {
	if n, m := utf8.RuneCountInString(a), utf8.RuneCountInString(b); max(n-m, m-n) >= limit { // the distance is at least the difference
		return limit
	}
	from, to := []rune(a), []rune(b)
	var earlier []int // the row before that before
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		next := make([]int, len(to)+1)
		next[0] = i + 1
		for j, q := range to {
			replaced := row[j]
			if r != q {
				replaced++
			}
			next[j+1] = min(replaced, next[j]+1, row[j+1]+1)
			if i > 0 && j > 0 && r == to[j-1] && from[i-1] == q {
				next[j+1] = min(next[j+1], earlier[j-1]+1)
			}
		}
		earlier, row = row, next
	}
	return min(row[len(to)], limit)
}
