package guard

import (
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
)

// Config is what config/planning-config.yaml of the plugin sets.
type Config struct {
	SessionCalls     int     // research calls per session
	PhaseCalls       int     // research calls per phase
	WarnPercent      int     // of either limit, from which a call is warned about
	Overlap          float64 // share of a decision's words that makes a question match, 0 < x ≤ 1
	TestPercent      int     // tasks that must name a test, in percent
	SelfCritique     bool    // tasks.md must have a self-critique section
	BreakerThreshold int     // failures of its own that switch a guard off for the session
	MaxBlocks        int     // consecutive blocks of one agent or turn
	off              map[string]bool
}

// masterSwitch turns all guards off.
const masterSwitch = "hooks_enforcement"

// readConfig reads the plugin's configuration. A file that is missing or no
// YAML, a key that is missing, a wrong type and a negative number all mean the
// default: a slip in the file must not switch a guard off.
func readConfig(pluginRoot string) Config {
	if pluginRoot == "" {
		return configOf(frontmatter.Value{})
	}
	v, err := frontmatter.ReadYAML(filepath.Join(pluginRoot, "config", "planning-config.yaml"))
	if err != nil {
		v = frontmatter.Value{}
	}
	return configOf(v)
}

func configOf(v frontmatter.Value) Config {
	budget, flags := v.At("research_mcp", "budget"), v.At("feature_flags")
	critique, _ := flags.At("s1_self_critique", "enabled").Bool()
	return Config{
		SessionCalls:     atLeast(0, budget.At("total_calls_per_session"), 25),
		PhaseCalls:       atLeast(0, budget.At("total_calls_per_phase"), 10),
		WarnPercent:      atLeast(0, budget.At("warn_at_percentage"), 80),
		Overlap:          share(flags.At("hooks_immutable_guard", "keyword_overlap_threshold"), 0.6),
		TestPercent:      atLeast(0, flags.At("hooks_agent_validation", "tdd_min_coverage"), 80),
		SelfCritique:     critique,
		BreakerThreshold: atLeast(1, flags.At(masterSwitch, "circuit_breaker_threshold"), 3),
		MaxBlocks:        atLeast(0, flags.At(masterSwitch, "max_consecutive_blocks"), 3),
		off:              switchedOff(flags),
	}
}

// Enabled reports whether the guard is on, and if not which flag turned it off.
func (c Config) Enabled(g Guard) (on bool, flag string) {
	for _, flag := range []string{masterSwitch, g.Flag} {
		if flag != "" && c.off[flag] {
			return false, flag
		}
	}
	return true, ""
}

func switchedOff(flags frontmatter.Value) map[string]bool {
	off := map[string]bool{}
	for _, m := range flags.Members() {
		if on, ok := m.Value.At("enabled").Bool(); ok {
			off[m.Key] = !on
		}
	}
	return off
}

func atLeast(least int, v frontmatter.Value, otherwise int) int {
	if n, ok := v.Int(); ok && n >= least {
		return n
	}
	return otherwise
}

func share(v frontmatter.Value, otherwise float64) float64 {
	if x, ok := v.Number(); ok && x > 0 && x <= 1 {
		return x
	}
	return otherwise
}
