package settings

import (
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/locator"
)

// ManagedDir returns where an organisation's settings are; another directory in tests.
var ManagedDir = client.ManagedDir

// Here reads the settings that decide whether a client that starts in dir runs hooks.
func Here(getenv func(string) (string, bool), dir string) Effective {
	config, _ := client.ConfigDir(getenv)
	return readSettings(locator.OS{}, ManagedDir(), config, dir, getenv)
}

// OffIn returns the switches that keep the client from running hooks in all of the places. One of
// the places is enough for the hooks to run.
func (s Effective) OffIn(places ...Place) (all []Off) {
	for i, place := range places {
		off := s.Off(place)
		if len(off) == 0 {
			return nil
		}
		if i == 0 {
			all = off
		}
	}
	return all
}
