package caller

import (
	"context"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// throughTmux returns, for a process in the window that is shown of a session of tmux, the
// chains through each terminal that is attached to the session, instead of through the
// server. It returns nothing for any other process.
func throughTmux(chain []process) (whole [][]process) {
	i := slices.IndexFunc(chain, func(p process) bool { return p.name() == "tmux" })
	if i < 1 || chain[0].terminal == "" {
		return nil
	}
	value, _ := environOf(chain[i-1])("TMUX") // socket,pid of the server,session
	socket, rest, _ := strings.Cut(value, ",")
	if pid, _, _ := strings.Cut(rest, ","); pid != strconv.Itoa(chain[i].pid) {
		return nil
	}
	for _, client := range attached(program(chain[i].pid), socket, chain[0].terminal) {
		if above, err := above(client); err == nil {
			whole = append(whole, slices.Concat(chain[:i], above))
		}
	}
	return whole
}

// tmuxLimit bounds each call of tmux, which answers within milliseconds.
const tmuxLimit = 2 * time.Second

// attached returns the processes that show the pane with this terminal.
func attached(tmux, socket, terminal string) (clients []int) {
	for _, pane := range ask(tmux, socket, "list-panes", "-a", "-F", "#{session_id} #{pane_tty} #{window_active}#{pane_active}") {
		session, shown, _ := strings.Cut(pane, " ")
		if shown != terminal+" 11" {
			continue
		}
		for _, client := range ask(tmux, socket, "list-clients", "-t", session, "-F", "#{client_pid}") {
			if pid, err := strconv.Atoi(client); err == nil {
				clients = append(clients, pid)
			}
		}
	}
	return clients
}

// ask returns the lines that tmux answers; none if it fails.
func ask(tmux, socket string, args ...string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), tmuxLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, tmux, append([]string{"-S", socket}, args...)...).Output()
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
