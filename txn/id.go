package txn

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// An id is "n", the number of the transaction in ten digits, "-", and something unique. Ids
// sort by number, so in the order of commits even if the clock was set back.
const (
	numberDigits = 10
	maxNumber    = 9_999_999_999
)

func newID(number int64, now time.Time) string {
	return fmt.Sprintf("n%0*d-", numberDigits, number) + unique(now)
}

// nextNumber returns the number of the next transaction after those of the ids.
func nextNumber(ids []string) int64 {
	last := int64(0)
	for _, id := range ids {
		last = max(last, numberOf(id))
	}
	return min(last+1, maxNumber)
}

// numberOf returns the number in an id, 0 if it is not an id.
func numberOf(id string) int64 {
	digits, _, ok := strings.Cut(id, "-")
	digits, numbered := strings.CutPrefix(digits, "n")
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || !numbered || len(digits) != numberDigits || err != nil {
		return 0
	}
	return n
}

// isID reports whether id may be that of a transaction.
func isID(id string) bool {
	return len(id) <= 64 && numberOf(id) > 0 && strings.Trim(id, "-0123456789abcdefghijklmnopqrstuvwxyz") == ""
}

// unique returns a name that no other call returns.
func unique(now time.Time) string {
	var tail [4]byte
	_, _ = rand.Read(tail[:])
	return now.UTC().Format("20060102t150405") + fmt.Sprintf("-%09d-", now.Nanosecond()) + hex.EncodeToString(tail[:])
}
