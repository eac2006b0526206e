package write

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/checklist"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/outline"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// ReadPlan reads a Markdown file whose boxes are steps, each of them, or only those that form names: tasks:LINE.
func ReadPlan(path, form string) (*hydrate.Plan, error) {
	data, err := safefile.ReadFile(path, state.MaxPlan, 0)
	if errors.Is(err, fs.ErrNotExist) {
		here, _ := os.Getwd()
		return nil, command.Fail(command.ExitNo, command.Unusable(path, err), "give the path that the plan has now, from "+here)
	}
	if err != nil {
		return nil, command.Unusable(path, err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	text := string(data)
	list := checklist.Read(text)
	if list.Unread {
		return nil, command.Fail(command.ExitNo, fmt.Errorf("%s: %s", path, list.Faults[0]), "")
	}
	all := len(list.Boxes)
	boxes, err := chosen(list, form)
	if err == nil || len(list.Faults) > 0 {
		if wrong := faultsOf(list, boxes, form); wrong != nil {
			err = wrong
		}
	}
	if err != nil {
		return nil, command.Fail(command.ExitNo, fmt.Errorf("%s: %w", path, err), hintOf(path, form, all))
	}
	steps := outline.Plan(text, list, boxes)
	lines := linesOf(steps, list.Boxes)
	if data, err = Format(outline.JSON(steps, nil)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	sum := sha256.Sum256([]byte(checklist.Unticked(text)))
	plan := &hydrate.Plan{File: hydrate.File{Path: path, Data: data}, Form: form, Lines: lines, Unticked: hex.EncodeToString(sum[:])}
	switch left := all - len(boxes); {
	case left == 1:
		plan.Left = fmt.Sprintf("1 box of %s is not taken: --form takes only some", path)
	case left > 1:
		plan.Left = fmt.Sprintf("%d boxes of %s are not taken: --form takes only some", left, path)
	case len(list.Apart) > 0:
		plan.Left = fmt.Sprintf("not every line of %s with a box is a step: %s", path, checklist.Told(list.Apart))
	}
	return plan, nil
}

// linesOf returns the lines of steps, and then those of the other boxes.
func linesOf(steps []outline.Step, boxes []checklist.Box) (lines []workflow.PlanLine) {
	at := map[int]int{}
	for i, step := range steps {
		at[step.Line-1] = i
	}
	boxes = slices.SortedStableFunc(slices.Values(boxes), func(a, b checklist.Box) int {
		i, isStep := at[a.Line]
		j, too := at[b.Line]
		switch {
		case isStep && too:
			return i - j
		case isStep:
			return -1
		case too:
			return 1
		}
		return a.Line - b.Line
	})
	for _, b := range boxes {
		lines = append(lines, workflow.PlanLine{Line: b.Line, Text: b.Text, Above: b.Headings()})
	}
	return lines
}

func hintOf(path, form string, all int) string {
	switch {
	case all == 0:
		return "fsmtx new DIR --from " + shell.Join(path) + " takes steps of other forms"
	case form != "":
		return "--form tasks:LINE takes the boxes of a section: those below the heading in that line, or in the list that has it"
	}
	return "change the file, or take only one section by --form tasks:LINE, with the line of its heading or of one of its boxes"
}

// chosen returns the boxes that form names.
func chosen(list checklist.List, form string) ([]checklist.Box, error) {
	boxes := list.Boxes
	name, at, exact := strings.Cut(form, ":")
	if form != "" && name != outline.Tasks {
		return nil, fmt.Errorf("the form of a plan is %s or %s:LINE, not %s", outline.Tasks, outline.Tasks, form)
	}
	if len(boxes) == 0 && len(list.Apart) > 0 {
		return nil, fmt.Errorf("it has no boxes such as - [ ]; %s", checklist.Told(list.Apart))
	}
	if len(boxes) == 0 {
		return nil, fmt.Errorf("it has no boxes such as - [ ]")
	}
	if !exact {
		return boxes, nil
	}
	line, err := strconv.Atoi(at)
	if err != nil {
		return nil, fmt.Errorf("%q is not the number of a line", at)
	}
	taken := list.Below(line - 1)
	if len(taken) == 0 {
		return nil, fmt.Errorf("line %d is neither a box nor a heading with boxes below it", line)
	}
	return taken, nil
}

// faultsOf returns an error for the lines of a plan that cannot be steps as they are; nil if there are none.
func faultsOf(list checklist.List, boxes []checklist.Box, form string) error {
	if len(boxes) > fsmspec.MaxTasks {
		return fmt.Errorf("it has %d boxes, and a workflow has at most %d steps", len(boxes), fsmspec.MaxTasks)
	}
	if wrong := list.Wrong(boxes, form != "" && form != outline.Tasks && len(boxes) > 0); len(wrong) > 0 {
		return fmt.Errorf("it is not sure what its steps are: %s", checklist.Told(wrong))
	}
	return nil
}
