package rules

import (
	"cmp"
	"slices"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/guard"
)

// agents is what the names of the workflow's agents begin with: the name of the
// plugin they come from.
const agents = "product-planning:"

// The agents that have a rule of their own.
const (
	techLead     = agents + "tech-lead"
	architect    = agents + "software-architect"
	qaStrategist = agents + "qa-strategist"
)

// All returns the rules in the order of their ids.
func All() []guard.Rule {
	return []guard.Rule{
		{
			ID: "H01", Name: "H01_immutable_guard", Event: event.PreToolUse, Matcher: "AskUserQuestion",
			Flag: "hooks_immutable_guard", Timeout: 5,
			Brief: "a question whose answer is already decided is not asked again",
			Rows:  decisionRows, Decide: forWorkflow(decisions),
		},
		{
			ID: "H02", Name: "H02_lock_enforcement", Event: event.PreToolUse, Matcher: "Write|Edit|NotebookEdit",
			Flag: "hooks_lock_enforcement", Timeout: 3,
			Brief: "the feature directory is written only by the session that holds the planning lock",
			Rows:  lockRows, Decide: forWorkflow(planningLock),
		},
		{
			ID: "H03", Name: "H03_research_budget", Event: event.PreToolUse,
			Matcher: "mcp__(plugin_.+_)?(context7|Ref|tavily)__.*",
			Flag:    "hooks_budget_tracker", Timeout: 3,
			Brief: "research calls stay within the session's and the phase's budget",
			Rows:  budgetRows, Decide: forWorkflow(researchBudget),
			Keeps: []guard.Kept{{What: "research budget", Path: BudgetFile}},
		},
		{
			ID: "H04", Name: "H04_spec_protection", Event: event.PreToolUse, Matcher: "Write|Edit",
			Flag: "hooks_spec_protection", Timeout: 3,
			Brief: "spec.md does not change once planning is under way",
			Rows:  specRows, Decide: forWorkflow(specProtection),
		},
		{
			ID: "H05", Name: "H05_checkpoint_logger", Event: event.PostToolUse, Matcher: "Write|Edit",
			Timeout: 3,
			Brief:   "every change of phase leaves a line in the audit log and a fresh phase budget",
			Rows:    checkpointRows, Decide: forWorkflow(checkpoint),
		},
		{
			ID: "H06", Name: "H06_context_injection", Event: event.UserPromptSubmit,
			Flag: "hooks_context_preservation", Timeout: 5,
			Brief: "every prompt comes with the state of the workflow",
			Rows:  injectionRows, Decide: forWorkflow(contextInjection),
		},
		{
			ID: "H07", Name: "H07_tech_lead_validator", Event: event.SubagentStop, Matcher: techLead,
			Flag: "hooks_agent_validation", Timeout: 10,
			Brief: "the tech lead ends with a tasks.md of phased tasks that name their tests",
			Rows:  techLeadRows, Decide: forWorkflow(techLeadOutput),
		},
		{
			ID: "H08", Name: "H08_architect_validator", Event: event.SubagentStop, Matcher: architect,
			Flag: "hooks_agent_validation", Timeout: 10,
			Brief: "the architect ends with a blueprint that has most of its parts",
			Rows:  architectRows, Decide: forWorkflow(architectOutput),
		},
		{
			ID: "H09", Name: "H09_qa_strategist_validator", Event: event.SubagentStop, Matcher: qaStrategist,
			Flag: "hooks_agent_validation", Timeout: 10,
			Brief: "the QA strategist ends with test ids, Given-When-Then scripts and a coverage matrix",
			Rows:  qaRows, Decide: forWorkflow(qaOutput),
		},
		{
			ID: "H10", Name: "H10_agent_generic_validator", Event: event.SubagentStop, Matcher: "^" + agents,
			Flag: "hooks_agent_validation", Timeout: 10,
			Brief: "every other agent of the plugin ends with a substantial, structured answer",
			Rows:  agentRows, Decide: forWorkflow(agentOutput),
		},
		{
			ID: "H11a", Name: "H11a_required_artifacts", Event: event.Stop,
			Flag: "hooks_stop_guard", Timeout: 5,
			Brief: "a turn does not end before design, plan, tasks and test plan exist",
			Rows:  artifactRows, Decide: forWorkflow(requiredArtifacts),
		},
		{
			ID: "H11b", Name: "H11b_workflow_completeness", Event: event.Stop,
			Flag: "hooks_stop_guard", Timeout: 5,
			Brief: "a turn does not end before the workflow is complete and no gate is RED",
			Rows:  completenessRows, Decide: forWorkflow(workflowCompleteness),
		},
		{
			ID: "H12", Name: "H12_preserve_context", Event: event.PreCompact,
			Flag: "hooks_context_preservation", Timeout: 5,
			Brief: "the summary of a compaction carries the state of the workflow",
			Rows:  preservationRows, Decide: forWorkflow(contextPreservation),
		},
		{
			ID: "H13", Name: "H13_env_setup", Event: event.SessionStart,
			Timeout: 10,
			Brief:   "a session starts knowing its branch, feature directory and phase",
			Rows:    environmentRows, Decide: forWorkflow(environment),
		},
	}
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
}

// forWorkflow adds the configuration and the feature directory to a call.
func forWorkflow(rule func(*call) (guard.Verdict, error)) func(*guard.Call) (guard.Verdict, error) {
	return func(g *guard.Call) (guard.Verdict, error) {
		c := &call{Call: g, config: configOf(g.Config), place: findPlace(g.Event.Cwd, g.Env)}
		c.Fact("feature directory", cmp.Or(c.place.feature, "none"))
		return rule(c)
	}
}
