package rules

import (
	"cmp"
	"slices"

	"github.com/fsmtx/fsmtx/internal/guard"
)

// All returns the rules in the order of their ids, with the matchers of the defaults.
func All() []guard.Rule { return allFor(configOf(guard.Config{})) }

// allFor returns the rules with the matchers that the configuration gives them. Each is
// defined in the file with its id.
func allFor(config Config) []guard.Rule {
	all := []guard.Rule{
		h01(), h02(), h03(config), h04(), h05(), h06(),
		h07(config), h08(config), h09(config), h10(config),
		h11a(), h11b(), h12(), h13(),
	}
	for i := range all {
		if all[i].Binds == nil {
			all[i].Binds = forWorkflow((*call).underWay)
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

// call is one run of one rule, with what every rule needs.
type call struct {
	*guard.Call
	config Config
	place  place
	state  *State    // read once
	lock   *lockFile // read once
	called *bool     // found out once

	identified bool // the plugin's name is known
}

// open returns the call with the configuration and the feature directory.
func open(g *guard.Call) *call {
	if c, ok := g.Memo.(*call); ok {
		return c
	}
	config := configOf(g.Config)
	if binds := g.Env("PLANNING_BINDS"); isBinding(binds) {
		config.Always = binds == always
	}
	c := &call{Call: g, config: config, place: findPlace(g.Event.Cwd, g.Env, config)}
	g.Memo = c
	return c
}

// identify gives the configuration the plugin's name. Only a few rules need it, and it
// costs the reading of a file.
func (c *call) identify() {
	if !c.identified {
		c.config, c.identified = c.config.named(guard.PluginName(c.Env), c.Config), true
	}
}

// decide is the form of a rule's decision here.
func decide(rule func(*call) (guard.Verdict, error)) func(*guard.Call) (guard.Verdict, error) {
	return func(g *guard.Call) (guard.Verdict, error) {
		c := open(g)
		c.Fact("feature directory", cmp.Or(c.place.feature, "none"))
		return rule(c)
	}
}

// forWorkflow is the form of a rule's binding here.
func forWorkflow(binds func(c *call, thoroughly bool) bool) func(*guard.Call, bool) bool {
	return func(g *guard.Call, thoroughly bool) bool { return binds(open(g), thoroughly) }
}
