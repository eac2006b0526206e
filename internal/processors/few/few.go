// Package few calls processors.Few as early as a program can: packages are initialised in the
// order of their paths as soon as their imports are, and this one imports next to nothing. Half of
// what there is to save is spent before main.
package few

import (
	"os"

	"github.com/fsmtx/fsmtx/internal/processors"
)

var _ = processors.Few(os.Args)
