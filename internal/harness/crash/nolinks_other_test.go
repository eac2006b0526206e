//go:build !linux

package crash_test

import "errors"

func refuseLinks() error { return errors.ErrUnsupported }
