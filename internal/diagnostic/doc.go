// Package diagnostic shows the problems of an fsm.json: joined where several say the
// same, and with the line of the file that each is about.
package diagnostic
