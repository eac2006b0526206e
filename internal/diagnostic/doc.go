// Package diagnostic formats the problems of an fsm.json: it joins problems with the same
// message, and shows the line of the file at which a problem is.
package diagnostic
