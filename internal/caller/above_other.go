//go:build !linux && !darwin

package caller

import "errors"

// above cannot read processes on these systems.
func above(int) ([]Process, error) { return nil, errors.ErrUnsupported }

func program(int) string { return "" }

func processes() ([]int, error) { return nil, errors.ErrUnsupported }

func read(int) (Process, error) { return Process{}, errors.ErrUnsupported }
