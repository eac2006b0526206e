package locator

// inSessionPlugin returns the places in the plugin's directory in PluginDirs.
func (s *search) inSessionPlugin() []candidate {
	return s.inRoot(root{dir: s.inSession.Dir, plugin: s.inSession.Name})
}

// findSession sets s.inSession to the first of PluginDirs that has the plugin's name.
func (s *search) findSession() {
	if s.sought || s.isPath() {
		return
	}
	s.sought = true
	for _, p := range s.sessionPlugins() {
		switch {
		case p.Name != s.plugin:
			s.step(RulePluginDir, p.Dir, OutcomeSkipped, "this is the plugin "+quote(p.Name))
		case s.inSession != nil:
			s.step(RulePluginDir, p.Dir, OutcomeSkipped, "the directory before it has the same plugin name")
		default:
			s.step(RulePluginDir, p.Dir, OutcomeFound, "")
			s.inSession = p
		}
	}
}
