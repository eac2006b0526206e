package install

import (
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

// teams says that agent teams are on, empty if they are not: a session in a terminal then has the list of the team that it leads, and which
// one that is, is known only once the client has written the team's configuration (fact 84, client 2.1.329).
func (d *doctor) teams() string {
	on, _ := d.Getenv(tasks.TeamVariable)
	where := "the environment"
	if on == "" {
		on, where = settings.Here(d.Getenv, d.cwd).Sets(tasks.TeamVariable)
	}
	if on == "" || on == "0" {
		return ""
	}
	return "agent teams are on (" + tasks.TeamVariable + " in " + where + "): a session in a terminal has the list of the team that it " +
		"leads, named session- and the first eight characters of its id; which list the client reads is not known before it has written " +
		"teams/*/config.json, and for a teammate not at all"
}
