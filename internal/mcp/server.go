package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/state"
)

const instructions = `Some skills come as a workflow: steps with an order, and conditions for completing them. Work through such a ` +
	`workflow with these tools, unless you were told to use others.
- workflow_status: the steps, which are ready, and the full text of the current one. Call it after you have called such a skill, and when you have lost track.
- workflow_begin: to put the workflow of a skill into the list if calling the skill has not done that.
- workflow_continue: to go on with a workflow that another session or agent has begun in this project.
- step_start: before you work on a step.
- step_complete: when the work of the step is done. Its conditions are checked then; a refusal says what is missing. Fix that and call it again.
- step_skip: only if a step cannot or need not be done; a person is asked.
Do the steps in order, and do not end your turn while a step is ready, unless you need the person.`

// newServer returns a server with the six tools, the resource and the prompt. lookup is os.LookupEnv or a stand-in for it;
// env is the environment of the checks. who is who started the server: if that is the agent
// itself, no questions are asked, because it would answer them.
func newServer(version string, f flags, lookup func(string) (string, bool), env []string, who caller.Caller) *mcp.Server {
	t := &tools{chooser{lookup, f, env, who}, questions{asked: map[string]pending{}, client: chooser{lookup, f, env, who}.fromClient,
		spoken: who.Program != caller.Claude}}
	if who.Program == caller.Claude {
		t.answerers = func() []state.Answerer {
			dir, _ := t.project() // without one it counts what is the user's
			return hook.Answerers(lookup, dir, settings.Elicitation)
		}
	}
	w := &watch{text: t.next}
	s := mcp.NewServer(
		&mcp.Implementation{Name: "fsmtx", Title: "Workflow steps", Version: version},
		&mcp.ServerOptions{Instructions: instructions,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{},
				Prompts: &mcp.PromptCapabilities{}},
			SubscribeHandler: w.subscribe, UnsubscribeHandler: func(_ context.Context, r *mcp.UnsubscribeRequest) error {
				if r.Params.URI == currentURI {
					w.unsubscribe()
				}
				return nil
			}},
	)
	w.tell = func(ctx context.Context) {
		_ = s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: currentURI})
	}
	s.AddPrompt(workPrompt, t.prompted)
	all := inputs{}
	addTool(s, all, tool("workflow_status",
		"Show the steps of the current workflow: which are done, ready or blocked, and the full text of the current one.", readOnly),
		t.status)
	addTool(s, all, tool("workflow_begin",
		"Put the workflow of a skill into the task list, by the skill's name or the absolute path of its folder, as a call of the skill does. "+
			"All of its steps come, or none. It begins the workflow anew: not for going on with one.",
		again), telling(w, t.begin))
	addTool(s, all, tool("workflow_continue",
		"Go on here with an unfinished workflow that another session or agent has begun in this project. If there are several, they are "+
			"listed.",
		changes), telling(w, t.goOn))
	addTool(s, all, tool("step_start", "Start a step of the workflow, by its number. Refused if a step that comes before it is not done.",
		changes), telling(w, t.start))
	addTool(s, all, tool("step_complete",
		"Complete a step of the workflow, by its number, when its work is done. Its files and its check are tested now, which can take "+
			"minutes, and a person may be asked. A refusal says what is missing: fix that and call this again.",
		changes), telling(w, t.complete))
	addTool(s, all, tool("step_skip",
		"Ask the person to let a step of the workflow be skipped. Only for a step that cannot or need not be done.",
		changes), telling(w, t.skip))
	s.AddReceivingMiddleware(ofSession, all.checked, t.surely)
	s.AddResource(&mcp.Resource{
		URI: currentURI, Name: "current", Title: "Current steps", MIMEType: "text/plain",
		Description: "The steps of the workflow that are in progress or ready, in full, and what the others wait for.",
	}, t.current)
	return s
}

// visibly escapes the answers of a tool. They contain names and texts of files, and the
// model and the person read them.
func visibly[In, Out any](handle mcp.ToolHandlerFor[In, Out]) mcp.ToolHandlerFor[In, Out] {
	return func(ctx context.Context, r *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		result, out, err := handle(ctx, r, in)
		if err != nil {
			err = message.Lines(message.Error(err))
		}
		if result != nil {
			for _, content := range result.Content {
				if text, ok := content.(*mcp.TextContent); ok {
					text.Text = message.Text(text.Text)
				}
			}
		}
		return result, out, err
	}
}

type kind int

const (
	changes kind = iota // a second call with the same input changes nothing more
	again               // each call changes something
	readOnly
)

// tool returns a tool that the client loads without ToolSearch (fact 34, client 2.1.329).
func tool(name, description string, k kind) *mcp.Tool {
	no, destroys := false, name == "workflow_begin" || name == "step_skip" // what is there gives way, or is not done
	return &mcp.Tool{
		Name: name, Description: description,
		Meta: mcp.Meta{"anthropic/alwaysLoad": true},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: k == readOnly, IdempotentHint: k != again, DestructiveHint: &destroys,
			OpenWorldHint: &no},
	}
}
