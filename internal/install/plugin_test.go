package install

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/settings"
)

func small() Plugin {
	return Plugin{Name: "fsmtx", Version: "1.2.3", Programs: []Program{{Platform: ThisPlatform(), Fsmtx: []byte("#!/bin/sh\n")}},
		Parts: []Part{Workflows(settings.Hooks(Command, []string{"--steps=off"}, settings.Duty{NoSteps: true}))}}
}

func TestInvalidNamesAreRefused(t *testing.T) {
	for _, name := range []string{"", "A", "a b", "-a", "a-", "a--b", "../a", "a/b", "ä"} {
		p := small()
		p.Name = name
		_, err := p.files()
		assert.ErrorIs(t, err, errName, "%q", name)
	}
}
