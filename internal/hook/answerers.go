package hook

import (
	"context"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/locator"
)

// Answerers returns the hooks of the settings and of plugins that may answer for the person when the client asks about one of the
// tools, in a session of the project in dir.
func Answerers(lookup func(string) (string, bool), dir string, tools ...string) (all []state.Answerer) {
	here, roots := settings.Here(lookup, dir), runningPlugins(lookup, dir)
	for _, tool := range tools {
		for _, by := range append(here.Answerers(tool), settings.AnswerersOfPlugins(locator.OS{}, roots, tool)...) {
			all = append(all, state.Answerer{Name: message.Line("the " + by.Event + " hook in " + by.Place), Sum: by.Sum})
		}
	}
	return all
}

// AllAnswerers returns the sums of those for every question, for the record of a workflow that is begun.
func AllAnswerers(lookup func(string) (string, bool), dir string) (sums []string) {
	for _, by := range Answerers(lookup, dir, "TaskUpdate", "Bash", client.QuestionTool, settings.Elicitation) {
		sums = append(sums, by.Sum)
	}
	return sums
}

// newAnswerer returns the hook that could answer for the person when the client asks about a command, and that has come since a
// workflow in the list was begun; empty if there is none.
func (h *hook) newAnswerer(ctx context.Context) string {
	s, err := h.Now(ctx)
	if err != nil {
		return ""
	}
	return s.NewAnswerer(Answerers(h.streams.Getenv, h.directory(), "Bash"))
}
