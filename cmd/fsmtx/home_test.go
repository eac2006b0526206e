package main

import (
	"os"
	"os/user"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheHomeOfTheAccountIsUsedWithoutHOME(t *testing.T) {
	account, err := user.Current()
	require.NoError(t, err)
	t.Setenv("HOME", "")
	setHome()
	assert.Equal(t, account.HomeDir, os.Getenv("HOME"))

	t.Setenv("HOME", "/somewhere/else")
	setHome()
	assert.Equal(t, "/somewhere/else", os.Getenv("HOME"))
}
