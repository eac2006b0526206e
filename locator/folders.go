package locator

import "path/filepath"

// The folders of skills in the order of the requirements.

func (s *search) inProject() []candidate {
	return s.projectCandidate(RuleProject, "cwd", s.cwd)
}

func (s *search) inProjectDir() []candidate {
	if s.ProjectDir == "" || s.ProjectDir == s.cwd {
		return nil
	}
	return s.projectCandidate(RuleProjectDir, "CLAUDE_PROJECT_DIR", s.ProjectDir)
}

func (s *search) inUser() []candidate {
	if !s.loads("user") {
		return nil
	}
	if s.ConfigDir == "" {
		s.step(RuleUser, "", OutcomeSkipped, "the configuration directory is unknown")
		return nil
	}
	return []candidate{{rule: RuleUser, folder: skillIn(s.ConfigDir, s.skill)}}
}

func (s *search) projectCandidate(rule Rule, name, dir string) []candidate {
	if !s.loads("project") {
		return nil
	}
	if !filepath.IsAbs(dir) {
		s.step(rule, "", OutcomeSkipped, name+" is "+quote(dir)+", which is not an absolute path")
		return nil
	}
	return []candidate{{rule: rule, folder: skillIn(projectRoot(dir), s.skill)}}
}

// inSessionPlugin returns the places in the plugin's directory in PluginDirs, which takes precedence over an
// installed one (measured with 2.1.329, fact 51).
func (s *search) inSessionPlugin() []candidate {
	return s.inRoot(root{dir: s.inSession.Dir, plugin: s.inSession.Name})
}
