//go:build !linux && !darwin

package claude

import "errors"

func arguments(int) ([]string, error) { return nil, errors.ErrUnsupported }
