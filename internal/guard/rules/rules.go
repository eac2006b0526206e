package rules

import (
	"cmp"
	"slices"

	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/guard"
)

// All returns the rules in the order of their ids, with the matchers of the defaults.
func All() []guard.Rule { return allFor(configOf(guard.Config{})) }

// allFor returns the rules in the order of their ids, with the matchers that the
// configuration results in.
func allFor(config configuration) []guard.Rule {
	all := []guard.Rule{
		h01(), h02(), h03(config), h04(), h05(), h06(),
		h07(config), h08(config), h09(config), h10(config),
		h11a(), h11b(), h12(), h13(),
	}
	for i := range all {
		if all[i].Binds == nil {
			all[i].Binds = bindsBy((*call).underWay)
		}
	}
	return all
}

// Find returns the rule with that id.
func Find(id string) (guard.Rule, bool) {
	all := All()
	i := slices.IndexFunc(all, func(r guard.Rule) bool { return r.ID == id })
	if i < 0 {
		return guard.Rule{}, false
	}
	return all[i], true
}

// call is one run of one rule, with the facts that several rules need.
type call struct {
	*guard.Call
	config configuration
	place  place

	// Caches of readState, readLock, turnEnd and hasCalled; nil before the first use.
	state  *stateFile
	lock   *lockFile
	steps  *gates.TurnEnd
	called *bool

	written string // the phase in the state file, once that is read

	pluginRead bool // config has the plugin's name
}

// callOf returns the call with its configuration and feature directory. It always returns
// the same call for g.
func callOf(g *guard.Call) *call {
	if c, ok := g.Memo.(*call); ok {
		return c
	}
	config := configOf(g.Config)
	if binds := g.Env("PLANNING_BINDS"); isBinding(binds) {
		config.always = binds == bindsAlways
	}
	c := &call{Call: g, config: config, place: findPlace(g.Event.Cwd, g.Env, config)}
	g.Memo = c
	return c
}

// readPluginName puts the plugin's name into the configuration. It is read from the
// plugin's manifest, which only a few rules need.
func (c *call) readPluginName() {
	if !c.pluginRead {
		c.config, c.pluginRead = c.config.withPlugin(guard.PluginName(c.Env), c.Config), true
	}
}

// decideBy adapts a function of this package to guard.Rule.Decide.
func decideBy(run func(*call) (guard.Verdict, error)) func(*guard.Call) (guard.Verdict, error) {
	return func(g *guard.Call) (guard.Verdict, error) {
		c := callOf(g)
		c.Fact("feature directory", cmp.Or(c.place.feature, "none"))
		return run(c)
	}
}

// bindsBy adapts a method of call to guard.Rule.Binds.
func bindsBy(binds func(c *call, thoroughly bool) bool) func(*guard.Call, bool) bool {
	return func(g *guard.Call, thoroughly bool) bool { return binds(callOf(g), thoroughly) }
}
