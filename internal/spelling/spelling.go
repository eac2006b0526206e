// Package spelling finds the known word that a misspelt one was probably meant to be. What
// counts as near is decided where the words are known.
package spelling

import "unicode/utf8"

// Distance returns the Levenshtein distance of a and b: how many characters are inserted,
// deleted or replaced to make one of the other, or limit if that is less. Where the
// lengths alone say so, nothing is compared.
func Distance(a, b string, limit int) int {
	if n, m := utf8.RuneCountInString(a), utf8.RuneCountInString(b); max(n-m, m-n) >= limit { // so is the distance
		return limit
	}
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, q := range to {
			replaced := diagonal
			if r != q {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(to)], limit)
}
