//go:build !linux && !darwin

package cmdline

import "errors"

func arguments(int) ([]string, error) { return nil, errors.ErrUnsupported }
