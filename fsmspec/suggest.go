package fsmspec

import (
	"slices"
	"strings"
	"unicode"
)

// near returns the known word that somebody who wrote word most likely meant,
// or "" if none is near.
func near(word string, known []string) string {
	far := 3
	if len(word) < 6 {
		far = 2
	}
	folded := fold(word)
	best, bestDistance := "", far
	for _, k := range known {
		d := distance(folded, fold(k), far)
		if d < bestDistance && d < min(len(word), len(k)) {
			best, bestDistance = k, d
		}
	}
	if best != "" || len(word) < 4 {
		return best
	}
	for _, k := range known {
		if strings.HasPrefix(fold(k), folded) {
			return k
		}
	}
	return ""
}

// fold drops what spellings of one name differ in: case and word breaks.
func fold(word string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, word)
}

// distance is how many bytes must be put in, left out or changed to turn a into
// b; far stands for far and everything beyond.
func distance(a, b string, far int) int {
	if len(a)-len(b) >= far || len(b)-len(a) >= far {
		return far
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, corner+1)
		}
	}
	return min(row[len(b)], far)
}

// nearest returns the number of a sorted list that is closest to n, the smaller
// of two, leaving out one; false if there is no other.
func nearest(n, out int64, sorted []int64) (best int64, ok bool) {
	i, _ := slices.BinarySearch(sorted, n)
	for _, m := range sorted[max(i-2, 0):min(i+2, len(sorted))] {
		if m != out && (!ok || max(n-m, m-n) < max(n-best, best-n)) {
			best, ok = m, true
		}
	}
	return best, ok
}
