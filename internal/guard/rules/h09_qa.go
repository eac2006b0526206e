package rules

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/fsmtx/fsmtx/internal/guard"
)

// h09 judges the test cases and the test plan that the QA strategist leaves.
func h09(config configuration) guard.Rule {
	return agentRule(guard.Rule{
		ID: "H09", Name: "H09_qa_strategist_validator", Matcher: matcherOf(config, "H09"),
		Brief: "the QA strategist leaves test ids, Given-When-Then scripts and a coverage matrix",
		Rows:  qaRows, Decide: decideBy(runH09),
	})
}

var qaRows = []string{
	"another agent, or no feature directory",
	"no heading in test-cases/unit has an id (UT-1)",
	"no heading in test-cases/uat has an id (UAT-1)",
	"fewer than three Given, When, Then for each UAT id",
	"test-plan.md is missing",
	"test-plan.md has no coverage matrix",
	"anything else",
}

func runH09(c *call) (guard.Verdict, error) {
	if !c.judges("H09") {
		return guard.Pass(1, "Not the QA strategist: "+c.Event.AgentType), nil
	}
	if c.place.feature == "" {
		return guard.Pass(1, "No feature directory, cannot validate"), nil
	}
	facts, err := c.qaFacts()
	if err != nil {
		return guard.Pass(0, "Test files unreadable: "+err.Error()), nil
	}
	return facts.decide(c.config), nil
}

type qaFacts struct {
	feature                          string
	unit, integration, endToEnd, uat int // numbers of ids
	steps                            int // Given, When and Then in the uat directory
	plan                             document
}

func (c *call) qaFacts() (qaFacts, error) {
	facts := qaFacts{feature: c.place.feature}
	for _, kind := range []struct {
		dir   string
		id    int
		count *int
	}{
		{"unit", unitTest, &facts.unit},
		{"integration", integrationTest, &facts.integration},
		{"e2e", endToEndTest, &facts.endToEnd},
		{"uat", acceptanceTest, &facts.uat},
	} {
		texts, err := markdown(c.place.path(filepath.Join(c.config.names.testCases, kind.dir)))
		if err != nil {
			return facts, err
		}
		*kind.count = countIDs(texts, c.config.testIDs[kind.id])
		c.Fact(c.config.testIDs[kind.id]+" ids", fmt.Sprint(*kind.count))
		if kind.id == acceptanceTest {
			facts.steps = countSteps(texts)
		}
	}
	c.Fact("Given, When, Then", fmt.Sprint(facts.steps))
	var err error
	facts.plan, err = c.document(c.config.names.testPlan)
	return facts, err
}

// decide is the table from row 2 on.
func (f qaFacts) decide(config configuration) guard.Verdict {
	expected := config.stepsPerUAT * f.uat
	switch {
	case f.unit == 0:
		return guard.Block(2, "No unit test IDs", "QA strategist did not produce any unit test specifications ("+config.testIDs[unitTest]+
			"-xxx) in "+config.names.testCases+"/unit/. Re-run QA agent.")
	case f.uat == 0:
		return guard.Block(3, "No UAT script IDs", "QA strategist did not produce any UAT scripts ("+config.testIDs[acceptanceTest]+
			"-xxx) in "+config.names.testCases+"/uat/. Re-run QA agent.")
	case f.steps < expected:
		return guard.Block(4, "UAT scripts missing Given-When-Then",
			fmt.Sprintf("Found %d GWT markers for %d UAT scripts (expected at least %d). Ensure each UAT script has Given/When/Then sections.",
				f.steps, f.uat, expected))
	case !f.plan.exists:
		return guard.Block(5, config.names.testPlan+" not found", "QA strategist did not produce "+config.names.testPlan+" in "+
			f.feature+". Re-run QA agent.")
	case !hasCoverageMatrix(f.plan.text):
		return guard.Block(6, "Missing coverage matrix", config.names.testPlan+
			" does not contain a coverage matrix. Add a section mapping acceptance criteria to test cases.")
	}
	return guard.Pass(7, fmt.Sprintf("UT=%d, INT=%d, E2E=%d, UAT=%d", f.unit, f.integration, f.endToEnd, f.uat))
}

func hasCoverageMatrix(text string) bool {
	return regexp.MustCompile(`(?i)coverage[\s_-]matrix`).MatchString(text)
}

// countIDs counts headings that begin with an id.
func countIDs(texts []string, id string) int {
	heading := regexp.MustCompile(`(?m)^#{1,6}[ \t]*` + testID(id))
	n := 0
	for _, text := range texts {
		n += len(heading.FindAllStringIndex(text, -1))
	}
	return n
}

// countSteps counts Given, When and Then: with a colon anywhere, bold or not, and without
// one at the beginning of a line, as in Gherkin.
func countSteps(texts []string) int {
	colon := regexp.MustCompile(`(?:^|[^A-Za-z0-9])(Given|When|Then)(\*\*|__)?:`)
	bare := regexp.MustCompile(`^[\s>]*(#{1,6}\s+|[-*+]\s+|\d+[.)]\s+)?[*_]{0,3}(Given|When|Then)[*_]{0,3}([\s,|]|$)`)
	n := 0
	for _, text := range texts {
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n")
			n += len(colon.FindAllStringIndex(line, -1))
			if bare.MatchString(line) {
				n++
			}
		}
	}
	return n
}
