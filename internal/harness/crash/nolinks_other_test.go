//go:build !linux

package crash

import "errors"

func refuseLinks() error { return errors.ErrUnsupported }
