package caller

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// throughTmux returns, for a process in the window that is shown of a session of tmux, the
// chains through each terminal that is attached to the session, instead of through the
// server. It returns nothing for any other process. With an error the chains may be
// incomplete.
func throughTmux(chain []process) (whole [][]process, err error) {
	i := slices.IndexFunc(chain, func(p process) bool { return p.name() == "tmux" })
	if i < 1 || chain[0].terminal == "" {
		return nil, nil
	}
	value, _ := environOf(chain[i-1])("TMUX") // socket,pid of the server,session
	socket, rest, _ := strings.Cut(value, ",")
	if pid, _, _ := strings.Cut(rest, ","); pid != strconv.Itoa(chain[i].pid) {
		return nil, nil
	}
	clients, err := attached(program(chain[i].pid), socket, chain[0].terminal, tmuxLimit)
	for _, client := range clients {
		if above, err := above(client); err == nil {
			whole = append(whole, slices.Concat(chain[:i], above))
		}
	}
	return whole, err
}

// tmuxLimit bounds each call of tmux, which answers within milliseconds.
const tmuxLimit = 2 * time.Second

// attached returns the processes that show the pane with this terminal: those that are known, if tmux fails or takes
// longer than the limit.
func attached(tmux, socket, terminal string, limit time.Duration) (clients []int, err error) {
	panes, err := ask(limit, tmux, socket, "list-panes", "-a", "-F", "#{session_id} #{pane_tty} #{window_active}#{pane_active}")
	for _, pane := range panes {
		session, shown, _ := strings.Cut(pane, " ")
		if shown != terminal+" 11" {
			continue
		}
		all, failed := ask(limit, tmux, socket, "list-clients", "-t", session, "-F", "#{client_pid}")
		err = cmp.Or(err, failed)
		for _, client := range all {
			if pid, err := strconv.Atoi(client); err == nil {
				clients = append(clients, pid)
			}
		}
	}
	return clients, err
}

// ask returns the lines that tmux answers.
func ask(limit time.Duration, tmux, socket string, args ...string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, tmux, append([]string{"-S", socket}, args...)...)
	c.WaitDelay = limit // what it has started may keep the pipe open
	out, err := c.Output()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("tmux has not answered within %v", limit)
	}
	if err != nil {
		return nil, fmt.Errorf("tmux %s: %w", args[0], err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n"), nil
}
