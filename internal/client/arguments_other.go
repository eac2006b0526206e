//go:build !linux && !darwin

package client

import "errors"

func arguments(int) ([]string, error) { return nil, errors.ErrUnsupported }
