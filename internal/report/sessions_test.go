package report_test

import (
	"testing"

	"github.com/fsmtx/fsmtx/internal/harness/sessions"
)

func TestMain(m *testing.M) { sessions.Main(m) }

func TestScript(t *testing.T) { sessions.Run(t, "../../testdata/script") }
