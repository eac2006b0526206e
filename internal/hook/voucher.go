package hook

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
)

// judged are the commands that decide about steps, by the agent's word alone. Those that take something away need a person's; they
// have grants.
func isJudged(call Invocation) bool {
	return slices.Contains([]string{"start", "complete", "begin", "continue"}, call.Rule.Command)
}

// VoucherFor returns the key of a command's voucher: its name and what it is about. list is that of another session, as the command names
// it; empty if the command is about the list in which the voucher is.
func VoucherFor(command string, args []string, list string) string {
	if len(args) > 0 {
		command += " " + strings.TrimPrefix(args[0], "#")
	}
	if list != "" {
		command += presence.Elsewhere + list
	}
	return command
}

// vouchers returns what the commands of this program in a line of the agent's shell find on record: the client's own hook has seen them,
// so that each is decided as an update of the list is. It refuses a line in which something changes the environment of one, or in which
// the words of one are known only when it runs: its check would be the agent's. What else is in the line, and where it goes, is left
// alone.
func (h *hook) vouchers(script shell.Script) (all []state.Voucher, a client.Answer) {
	if !h.fromClient() {
		return nil, a
	}
	seen, once := 0, !h.agent.Session || string(h.call.Input("run_in_background")) == "true" || script.HasBackground()
	next := h.call.Cwd
	for _, one := range script.Surrounded() {
		dir := next
		if len(one.Words) > 0 {
			next = changesDirectory(dir, one.Words)
		}
		call, ok := h.invoked(one.Words)
		if !ok || !isJudged(call) {
			continue
		}
		if seen++; call.Fails && !call.hidden && one.Changes == "" && !completesWords(one.Words[0]) {
			continue // it says so itself
		}
		if h.isWrapper(one.Words, dir) {
			continue
		}
		call.hidden = call.hidden || completesWords(one.Words[0])
		if why := h.notPlain(one, call); why != "" {
			return nil, h.runPlainly(call, why)
		}
		list := ""
		if call.Rule.Command != "continue" && !h.isAboutOwnList(call) {
			list = call.Flags.Lookup("list").Value.String()
		}
		all = append(all, state.Voucher{Command: VoucherFor(call.Rule.Command, call.Args, list), Words: h.plainWords(one.Words),
			Use: h.call.ToolUseID,
			Cwd: h.call.Cwd, Agent: h.call.AgentID, Once: once, Time: time.Now().UTC()})
	}
	if call := h.handedOn(seen); call != nil {
		return nil, h.runPlainly(*call, "it is handed to another program")
	}
	return all, a
}

// isWrapper reports whether a path in the line leads to a script with this program's name: it may change the environment and then run
// this program. dir is where the shell is, empty if that is not known. The scripts that npm puts into node_modules are none.
func (h *hook) isWrapper(words []shell.Word, dir string) bool {
	for _, w := range words {
		text, known := w.Text(h.homely)
		if !known || !settings.IsNamed(text) {
			continue
		}
		if text == filepath.Base(text) {
			return false // it is looked for in the agent's PATH, which the hook has not
		}
		if !filepath.IsAbs(text) {
			if dir == "" {
				return true
			}
			text = filepath.Join(dir, text)
		}
		path := safefile.Resolve(text)
		file, err := safefile.Open(path, os.O_RDONLY)
		if err != nil {
			return false // nor does the shell find it
		}
		defer file.Close()
		head := make([]byte, len("#!"))
		_, err = io.ReadFull(file, head)
		return err == nil && string(head) == "#!" && !slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "node_modules")
	}
	return false
}

// plainWords returns the words of a command up to the first that a client may quote in another way than the line does.
func (h *hook) plainWords(words []shell.Word) string {
	var plain strings.Builder
	for _, w := range words {
		text := w.In(h.call.Command)
		if strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' || strings.ContainsRune("!$`\\", c) }) {
			break
		}
		plain.WriteString(text)
	}
	return shell.Bare(plain.String())
}

// completesWords reports whether the program runs a command with more words than the line has.
func completesWords(program shell.Word) bool {
	text, _ := program.Literal()
	return slices.Contains([]string{"xargs", "parallel", "find"}, filepath.Base(text))
}

// notPlain returns why the command may not be what the line shows, empty if it is.
func (h *hook) notPlain(one shell.Surrounded, call Invocation) string {
	if one.Changes != "" {
		return message.Sprintf("%s may change the environment in which it would run", one.Changes)
	}
	for _, name := range one.Sets {
		if _, set := h.streams.Getenv(name); set || isOfPrograms(name) {
			return message.Sprintf("what sets %s changes the environment in which it would run", name)
		}
	}
	if program := h.runner(one.Words); program != "" {
		return message.Sprintf("%s would run it", program)
	}
	if slices.ContainsFunc(call.Args, func(arg string) bool { return strings.ContainsAny(arg, "$`") }) {
		return "what it is about is known only when it runs"
	}
	return ""
}

// runner returns the program that runs the command and may change its environment or its words; empty if none does.
func (h *hook) runner(words []shell.Word) string {
	for i, w := range words {
		text, known := w.Text(h.homely)
		name := filepath.Base(text)
		switch {
		case known && settings.IsNamed(text):
			return ""
		case known && slices.Contains([]string{"command", "nice", "nohup", "stdbuf", "time", "timeout"}, name):
		case i == 0 || !known || !isOption(text):
			return cmp.Or(text, w.In(h.call.Command))
		}
	}
	return ""
}

// isOption reports whether a word behind timeout, nice and the like is no program: a flag, a number, a time, or the name of a signal.
func isOption(word string) bool {
	return strings.HasPrefix(word, "-") || strings.Trim(word, "0123456789.smhd") == "" || strings.ToUpper(word) == word
}

// isOfPrograms reports whether programs that a check runs, or this one, commonly read a variable of this name, so that it may be in the
// environment of the agent's shell without being in that of the hook.
func isOfPrograms(name string) bool {
	ends := func(with string) bool { return strings.HasSuffix(name, with) }
	starts := func(with string) bool { return strings.HasPrefix(name, with) }
	return slices.Contains([]string{"ENV", "BASH_ENV", "IFS", "HOME", "TMPDIR", "SHELL", "VIRTUAL_ENV"}, name) ||
		slices.ContainsFunc([]string{"PATH", "FLAGS", "_OPTIONS", "OPTS", "_HOME"}, ends) ||
		slices.ContainsFunc([]string{"LD_", "DYLD_", "GIT_", "CLAUDE", "CODEX", "AI_AGENT"}, starts)
}

// handedOn returns a command of this program that the line gives to another program to run, such as sh -c; nil if there is none. seen is
// how many stand in the line itself.
func (h *hook) handedOn(seen int) *Invocation {
	reading, _ := shell.Look(h.call.Command)
	for _, words := range reading.Commands {
		if i := slices.IndexFunc(words, func(word string) bool { return settings.IsNamed(word) }); i >= 0 {
			if call, ok := h.flags.Read(words[i+1:]); ok && isJudged(call) {
				if seen--; seen < 0 {
					call.line = Line(words[i+1:])
					return &call
				}
			}
		}
	}
	return nil
}

// runPlainly refuses a line.
func (h *hook) runPlainly(call Invocation, why string) client.Answer {
	line := call.line
	if call.hidden {
		line = "fsmtx " + call.Rule.Command + " N"
	}
	text := message.Sprintf("%s was not run: %s. Run it plainly, without variables: %s", "fsmtx "+call.Rule.Command, why, line)
	return client.Refuse(message.ForAgent(text))
}

// endVouchers ends those of the calls that are over. One that may run on in the background ends when its command uses it.
func (h *hook) endVouchers(ctx context.Context) {
	if len(h.present.Vouchers) == 0 {
		return
	}
	over := func(use string) bool {
		over, known := client.Transcript(h.call.TranscriptPath).Over(use)
		return over && known
	}
	after := slices.Contains([]agent.Moment{agent.After, agent.Failed}, h.call.Moment)
	presence.EndVouchers(ctx, &h.Store, func(v state.Voucher) bool {
		return !v.Once && (after && v.Use == h.call.ToolUseID || v.Use != h.call.ToolUseID && over(v.Use)) || h.call.Moment == agent.Start
	})
}
