package guard

import (
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
)

// ConfigFile is where a plugin has its configuration, relative to its root.
const ConfigFile = "config/planning-config.yaml"

// Config is a plugin's configuration. A key that is missing or holds a value of
// another type or out of range has its default, and so has every key of a file
// that is missing or broken: a slip in the file must not switch a guard off.
type Config struct{ root frontmatter.Value }

func readConfig(pluginRoot string) Config {
	if pluginRoot == "" {
		return Config{}
	}
	v, err := frontmatter.ReadYAML(filepath.Join(pluginRoot, ConfigFile))
	if err != nil {
		return Config{}
	}
	return Config{v}
}

// ConfigOf returns the configuration in v.
func ConfigOf(v frontmatter.Value) Config { return Config{v} }

// Int returns the whole number at key, names joined by dots, if it is at least
// least.
func (c Config) Int(key string, least, fallback int) int {
	if n, ok := c.at(key).Int(); ok && n >= least {
		return n
	}
	return fallback
}

// Share returns the number x at key if 0 < x ≤ 1.
func (c Config) Share(key string, fallback float64) float64 {
	if x, ok := c.at(key).Number(); ok && x > 0 && x <= 1 {
		return x
	}
	return fallback
}

// Bool returns the boolean at key.
func (c Config) Bool(key string, fallback bool) bool {
	if b, ok := c.at(key).Bool(); ok {
		return b
	}
	return fallback
}

func (c Config) at(key string) frontmatter.Value {
	return c.root.At(strings.Split(key, ".")...)
}

// masterSwitch turns all guards off.
const masterSwitch = "hooks_enforcement"

// switchedOff returns the flag that turns the rule off, "" if none does, also for a
// rule without a flag.
func (c Config) switchedOff(r Rule) string {
	for _, flag := range []string{masterSwitch, r.Flag} {
		if !c.Bool("feature_flags."+flag+".enabled", true) {
			return flag
		}
	}
	return ""
}

// breakerThreshold is the number of failures in a row that open the breaker.
func (c Config) breakerThreshold() int {
	return c.Int("feature_flags."+masterSwitch+".circuit_breaker_threshold", 1, 3)
}

// maxBlocks is how often in a row one agent or turn is blocked.
func (c Config) maxBlocks() int {
	return c.Int("feature_flags."+masterSwitch+".max_consecutive_blocks", 0, 3)
}
