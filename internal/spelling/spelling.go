// Package spelling measures how different two words are, to find the known word that was
// probably meant by a misspelt one. The callers choose the known words and the limit.
package spelling

import "unicode/utf8"

// Distance returns how many characters have to be inserted, deleted, replaced or swapped with
// their neighbour to turn a into b, each character once (the optimal string alignment
// distance), or limit if that is less. If the lengths alone differ by limit or more, the
// characters are not compared.
func Distance(a, b string, limit int) int {
	if n, m := utf8.RuneCountInString(a), utf8.RuneCountInString(b); max(n-m, m-n) >= limit { // the distance is at least the difference
		return limit
	}
	from, to := []rune(a), []rune(b)
	before, above, row := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range above {
		above[j] = j
	}
	for i, r := range from {
		row[0] = i + 1
		for j, q := range to {
			replaced := above[j]
			if r != q {
				replaced++
			}
			row[j+1] = min(replaced, row[j]+1, above[j+1]+1)
			if i > 0 && j > 0 && r == to[j-1] && q == from[i-1] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above, row = above, row, before
	}
	return min(above[len(to)], limit)
}
