package checks

import (
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// scripts returns those of the package.json in a directory of the project.
func (p Project) scripts(dir string) map[string]string {
	var manifest struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal([]byte(p.read(path.Join(dir, "package.json"))), &manifest) != nil {
		return nil
	}
	return manifest.Scripts
}

// allowsScripts reports whether a manager of packages is told to run scripts of package.json that only check.
func (r reader) allowsScripts(manager string, args []string, dir string) bool {
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "-s" || a == "--silent" })
	names := args
	switch many := strings.HasPrefix(manager, "run-") || manager == "npm-run-all"; {
	case len(args) == 0:
		return false
	case many:
	case (args[0] == "run" || args[0] == "run-script") && len(args) > 1:
		names, args = args[1:2], args[2:]
	case (args[0] == "test" || args[0] == "t") && manager != "bun":
		names, args = []string{"test"}, args[1:]
	case manager == "yarn":
		names, args = args[:1], args[1:]
	default:
		return false
	}
	if len(names) != len(args) && len(args) > 0 && (args[0] != "--" || slices.ContainsFunc(args, isHarmful) ||
		slices.ContainsFunc(args, isUntested)) {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool { return actsByName(name) || !r.allowsScript(name, dir) })
}

// allowsScript reports whether a script of package.json, and those that run before and after it, check only.
func (r reader) allowsScript(name, dir string) bool {
	scripts := r.scripts(dir)
	if scripts[name] == "" {
		return false
	}
	r.note("npm run " + name)
	return r.within("script "+dir+" "+name, func(r reader) bool {
		for _, each := range []string{"pre" + name, name, "post" + name} {
			if text := scripts[each]; text != "" && !r.allowsText(text, dir) {
				return false
			}
		}
		return true
	})
}
