//go:build disks && !linux

package disks_test

import "testing"

func TestPowerCutsOnRealFileSystems(t *testing.T) {
	t.Skip("skipped: the file systems are those of Linux")
}
