// Package write makes and changes workflows for people: init, new, validate, fmt, plan. It changes the text
// of an fsm.json without losing information: [Fix] repairs
// mistakes that can be repaired in only one way, and [Format] writes a valid file in its
// canonical form.
package write
