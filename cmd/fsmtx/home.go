package main

import (
	"os"
	"os/user"
)

// setHome sets HOME, if it is empty or not set, to the home directory of the account: the client
// looks there then (measured with 2.1.329), and so do programs of Node in general. Without an
// account it does nothing.
func setHome() {
	if os.Getenv("HOME") != "" {
		return
	}
	if account, err := user.Current(); err == nil && account.HomeDir != "" {
		_ = os.Setenv("HOME", account.HomeDir)
	}
}
