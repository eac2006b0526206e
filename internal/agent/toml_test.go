package agent_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/agent"
)

// vars and varsLine are the variables that the server gets, as Add writes them.
const (
	vars     = `env_vars = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "FSMTX_LOG", "XDG_STATE_HOME"]`
	varsLine = vars + "\n"
)

// TestTableIsRemovedToTheByte: from any file, and also after lines were added below it.
func TestTableIsRemovedToTheByte(t *testing.T) {
	table := agent.Table{Command: `/a "b"/\c`, Args: []string{"mcp"}}
	rapid.Check(t, func(t *rapid.T) {
		var before []byte
		if rapid.Bool().Draw(t, "exists") {
			before = append([]byte{}, rapid.SampledFrom([]string{"", "\n", "a = 1", "a = 1\n", "[x]\r\n", "[x]\r\ny = 1", "# c\n\n", "# é",
				"\ufeff", "\ufeffa = 1", "\ufeff[x]\r\n",
				"x = \"\"\"\n[y]\n\"\"\"\n", "[mcp_servers]\no = {command = \"o\"}\n"}).Draw(t, "file")...)
		}
		added, err := table.Add(before)
		require.NoError(t, err)
		why, had, err := table.Inspect(added)
		require.NoError(t, err)
		require.True(t, had)
		require.Empty(t, why)
		again, err := table.Add(added)
		require.NoError(t, err)
		require.Equal(t, string(added), string(again))
		removed, had, err := table.Remove(added)
		require.NoError(t, err)
		require.True(t, had)
		require.Equal(t, before == nil, removed == nil)
		require.Equal(t, string(before), string(removed))

		later := rapid.SampledFrom([]string{"[y]\n", "\n[y]\n", "# c\n[[z]]\nb = 2\n"}).Draw(t, "later")
		removed, _, err = table.Remove(append(added, later...))
		require.NoError(t, err)
		if text := strings.TrimPrefix(string(before), "\ufeff"); text != "" && !strings.HasSuffix(text, "\n") {
			before = append(before, lineEnd(before)...) // or the lines would become one
		}
		require.Equal(t, string(before)+later, string(removed))
	})
}

func lineEnd(file []byte) string {
	if bytes.Contains(file, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// TestAMovedProgramChangesItsValueAlone: comments, spaces and the ends of lines stay.
func TestAMovedProgramChangesItsValueAlone(t *testing.T) {
	const file = "\ufeff[mcp_servers.fsmtx] # mine\r\n" +
		"  'command'  = \"/old #1/fsmtx\"\t# why # so\r\nargs = [\r\n \"mcp\", # one\r\n]\r\n" + vars + "\r\n[b]\r\n"
	table := agent.Table{Command: "/new/fsmtx", Args: []string{"mcp"}}
	updated, err := table.Add([]byte(file))
	require.NoError(t, err)
	assert.Equal(t, strings.Replace(file, "/old #1/fsmtx", "/new/fsmtx", 1), string(updated))
	rest, had, err := table.Remove(updated)
	require.NoError(t, err)
	assert.True(t, had)
	assert.Equal(t, "\ufeff[b]\r\n", string(rest))

	earlier := "[mcp_servers.fsmtx]\n" + varsLine + "args = [\"mcp\", \"--x\"] # args\ncommand='/old/fsmtx'# command"
	updated, err = table.Add([]byte(earlier))
	require.NoError(t, err)
	assert.Equal(t, "[mcp_servers.fsmtx]\n"+varsLine+"args = [\"mcp\", \"--x\"] # args\ncommand=\"/new/fsmtx\"# command", string(updated))

	added, err := table.Add([]byte("[b]\r\n"))
	require.NoError(t, err)
	assert.NotRegexp(t, `[^\r]\n`, string(added), "the lines end as those of the file")
}

func TestTable(t *testing.T) {
	old, err := agent.Table{Command: "/old/fsmtx", Args: []string{"mcp"}}.Add([]byte("a = 1\n"))
	require.NoError(t, err)
	table := agent.Table{Command: "/new/fsmtx", Args: []string{"mcp"}}
	why, had, err := table.Inspect(old)
	require.NoError(t, err)
	assert.True(t, had)
	assert.Equal(t, "MCP server: runs /old/fsmtx, want /new/fsmtx", why)
	updated, err := table.Add(old)
	require.NoError(t, err)
	assert.Contains(t, string(updated), `command = "/new/fsmtx"`)
	assert.NotContains(t, string(updated), "old")

	for own, want := range map[string]error{
		"[mcp_servers.fsmtx]\n": agent.ErrServer, "[ mcp_servers . \"fsmtx\" ]\n": agent.ErrServer, "[mcp_servers.fsmtx.env]\n": agent.ErrServer,
		"x = 1\nmcp_servers.fsmtx = {}\n": agent.ErrServer, "[\"mcp_servers\".fsmtx]\n": agent.ErrServer,
		"[[mcp_servers.fsmtx]]\n":     agent.ErrServer,
		"[mcp_servers]\nfsmtx = {}\n": agent.ErrServer, "'mcp_servers' = {\"fsmtx\" = {}}\n": agent.ErrServer,
		"mcp_servers = {}\n": agent.ErrOneLine, "mcp_servers = {other = {}}": agent.ErrOneLine, "mcp_servers = 1\n": agent.ErrOneLine,
		"x = [\n": agent.ErrTOML, "x = \"\"\"\n": agent.ErrTOML, "x = 1\nx = 2\n": agent.ErrTOML, "\ufeffx = \n": agent.ErrTOML,
		"x = \"\"\"\n[mcp_servers.fsmtx]\n\"\"\"\n": agent.ErrTable,
	} {
		_, err := table.Add([]byte(own))
		require.ErrorIs(t, err, want, own)
		require.Regexp(t, `^\d+:\d+: `, err.Error())
		_, had, err := table.Inspect([]byte(own))
		assert.False(t, had)
		if want == agent.ErrServer || want == agent.ErrTOML {
			require.ErrorIs(t, err, want, own)
		}
		rest, had, err := table.Remove([]byte(own))
		require.NoError(t, err)
		assert.False(t, had)
		assert.Equal(t, own, string(rest))
	}
	for _, others := range []string{"[mcp_servers.other]\n", "[mcp_servers.fsmtx2]\n", "# [mcp_servers.fsmtx]\n",
		"mcp_servers.other.command = 'x'\n", "[mcp_servers]\nother = {}\n", "x = {\n a = 1,\n}\n"} {
		_, err := table.Add([]byte(others))
		require.NoError(t, err, others)
	}
}

// TestCodexWritesInTheFileToo: what it and the person add to the file and to the server stays, and
// the server is found without the comments, of which Codex drops some (measured with 0.169.0).
func TestCodexWritesInTheFileToo(t *testing.T) {
	const server = "[mcp_servers.fsmtx]\ncommand = \"/bin/fsmtx\"\nargs = [\"mcp\"]\n" + varsLine
	table := agent.Table{Command: "/bin/fsmtx", Args: []string{"mcp"}}
	for name, c := range map[string]struct{ file, rest string }{
		"a table before the last comment": {
			"a = 1\n# fsmtx install: the MCP server begins\n" + server + "\n[features]\nhooks = true\n# fsmtx install: the MCP server ends\n",
			"a = 1\n\n[features]\nhooks = true\n"},
		"no first comment": {"a = 1\n\n" + server + "\n[mcp_servers.o]\ncommand = \"o\"\n# fsmtx install: the MCP server ends\n",
			"a = 1\n\n\n[mcp_servers.o]\ncommand = \"o\"\n"},
		"no comment": {"a = 1\n" + server + "[b]\n", "a = 1\n[b]\n"},
		"its tools":  {server + "\n[mcp_servers.fsmtx.tools.step_start]\napproval_mode = \"approve\"\n\n[b]\n", "\n\n[b]\n"},
		"apart":      {server + "[b]\nx = 1\n[mcp_servers.fsmtx.env]\nA = \"1\"\n# mine\n", "[b]\nx = 1\n# mine\n"},
		"another order": {"[mcp_servers.fsmtx]\n# why\n" + varsLine +
			"startup_timeout_sec = 5\nargs = [\n \"mcp\",\n]\ncommand = '/bin/fsmtx'\n[b]\n", "[b]\n"},
		"another format": {"[ mcp_servers . \"fsmtx\" ] # x\r\ncommand = '/bin/fsmtx'\r\n" + vars +
			"\r\nargs = ['mcp']\r\n\r\n[b]\r\n", "\r\n[b]\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			why, had, err := table.Inspect([]byte(c.file))
			require.NoError(t, err)
			assert.True(t, had)
			assert.Empty(t, why)
			same, err := table.Add([]byte(c.file))
			require.NoError(t, err)
			assert.Equal(t, c.file, string(same))
			rest, had, err := table.Remove([]byte(c.file))
			require.NoError(t, err)
			assert.True(t, had)
			assert.Equal(t, c.rest, string(rest))
		})
	}

	const own = "[mcp_servers.fsmtx] # x\n# why\nenabled = true\ncommand = \"/old/fsmtx\"\n" + varsLine + "args = " +
		"[\"mcp\"]\n[mcp_servers.fsmtx.env]\nA = \"1\"\n"
	out, err := table.Add([]byte(own))
	require.NoError(t, err)
	assert.Equal(t, strings.Replace(own, "/old/", "/bin/", 1), string(out), "only the program changes")
	const several = "/fsmtx\"\n" + varsLine + "args = [\n\"mcp\", \"--x\",\n]\n"
	out, err = table.Add([]byte("[mcp_servers.fsmtx]\ncommand = \"/old" + several))
	require.NoError(t, err, "further arguments are the person's")
	assert.Equal(t, "[mcp_servers.fsmtx]\ncommand = \"/bin"+several, string(out))
	_, _, err = table.Remove([]byte(server + "x = [\n[1],\n[\"b\"]\n]\n"))
	require.ErrorIs(t, err, agent.ErrTable, "a line like a header")
	_, _, err = table.Remove([]byte(server + "x = [\n[1],\n[\"b\"\n"))
	require.ErrorIs(t, err, agent.ErrTOML, "it may have the server")
}

// TestAServerWithoutATable: keys of the server outside its tables are its own, too.
func TestAServerWithoutATable(t *testing.T) {
	table := agent.Table{Command: "/bin/fsmtx", Args: []string{"mcp"}}
	const tools = "[mcp_servers.fsmtx.tools.step_start]\napproval_mode = \"approve\"\n"
	for name, c := range map[string]struct{ file, rest string }{
		"dotted at the root": {"a = 1\nmcp_servers.fsmtx.command = \"/bin/fsmtx\" # fsmtx\n" +
			"mcp_servers.fsmtx.args = [\"mcp\"]\nmcp_servers.fsmtx." + varsLine + "b = 1\n" + tools,
			"a = 1\nb = 1\n"},
		"dotted in a table": {"[mcp_servers]\no.command = \"fsmtx\"\n" +
			"fsmtx.command = \"/bin/fsmtx\"\nfsmtx.args = [\"mcp\"]\nfsmtx." + varsLine + "[x]\nfsmtx.args = 1\n",
			"[mcp_servers]\no.command = \"fsmtx\"\n[x]\nfsmtx.args = 1\n"},
		"in one line": {"[mcp_servers]\nfsmtx = {command = \"/bin/fsmtx\", args = [\"mcp\"], " + vars + "}\no = {command = \"o\"}\n",
			"[mcp_servers]\no = {command = \"o\"}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			why, had, err := table.Inspect([]byte(c.file))
			require.NoError(t, err)
			assert.True(t, had)
			assert.Empty(t, why)
			rest, had, err := table.Remove([]byte(c.file))
			require.NoError(t, err)
			assert.True(t, had)
			assert.Equal(t, c.rest, string(rest))

			moved, err := agent.Table{Command: "/new/fsmtx", Args: []string{"mcp"}}.Add([]byte(c.file))
			require.NoError(t, err)
			assert.Equal(t, strings.Replace(c.file, "/bin/", "/new/", 1), string(moved))
		})
	}
	const mine = "x = '/old/fsmtx' # \"/old/fsmtx\"\nmcp_servers = {o = {command = '/old/fsmtx'}, "
	for old, want := range map[string]string{
		"fsmtx = {command = '/old/fsmtx', args = ['mcp', '--x']}} # mine": "fsmtx = {env_vars = [\"CLAUDE_CONFIG_DIR\", \"CODEX_HOME\", " +
			"\"FSMTX_LOG\", \"XDG_STATE_HOME\"], command = \"/bin/fsmtx\", args = ['mcp', '--x']}} # mine",
		"fsmtx = {args = ['mcp'], command = \"/old/fsmtx\", " + vars + "}}": "fsmtx = {args = ['mcp'], command = \"/bin/fsmtx\", " + vars + "}}",
	} {
		moved, err := table.Add([]byte(mine + old))
		require.NoError(t, err, "only the program of this server changes")
		assert.Equal(t, mine+want, string(moved))
	}
	const split = "mcp_servers.fsmtx.command = \"/bin/fsmtx\"\nmcp_servers.fsmtx.args = [\n\"mcp\"]\n"
	rest, had, err := table.Remove([]byte(split))
	require.ErrorIs(t, err, agent.ErrTable, "removed means gone")
	assert.True(t, had)
	assert.Equal(t, split, string(rest))
}

func TestOnlyTheProgramIsUpdated(t *testing.T) {
	table := agent.Table{Command: "/bin/fsmtx", Args: []string{"mcp"}}
	const old = "[mcp_servers.fsmtx]\ncommand = \"/old/fsmtx\"\nargs = [\"mcp\"]\n" + varsLine
	const note = "note = \"\"\"\ncommand = \"/old/fsmtx\"\n\"\"\"\n"
	for _, other := range []string{"[x]\ncommand = \"/old/fsmtx\"\n", "x = nan\n" + note, "[mcp_servers.fsmtx.env]\ncommand = \"1\"\n"} {
		out, err := table.Add([]byte(other + old + note))
		require.NoError(t, err, other)
		assert.Equal(t, other+strings.Replace(old, "/old/", "/bin/", 1)+note, string(out))
	}
}

// TestNaNIsEqualToItself: in a file with one the server is added, updated and removed.
func TestNaNIsEqualToItself(t *testing.T) {
	table := agent.Table{Command: "/bin/fsmtx", Args: []string{"mcp"}}
	for _, file := range []string{"x = nan\n", "[a]\nx = [[1, -nan], {y = +nan}]\nt = 2020-01-01T00:00:00+01:00\n[[b]]\nz = nan\n"} {
		old, err := agent.Table{Command: "/old/fsmtx", Args: []string{"mcp"}}.Add([]byte(file))
		require.NoError(t, err, file)
		added, err := table.Add(old)
		require.NoError(t, err, file)
		assert.Contains(t, string(added), "/bin/fsmtx")
		rest, had, err := table.Remove(added)
		require.NoError(t, err, file)
		assert.True(t, had)
		assert.Equal(t, file, string(rest))
	}
}

// TestVariablesAreAdded: a server of an earlier version gets those that it lacks, and keeps everything else.
func TestVariablesAreAdded(t *testing.T) {
	table := agent.Table{Command: "/bin/fsmtx", Args: []string{"mcp"}}
	const head, args = "[mcp_servers.fsmtx]\ncommand = \"/bin/fsmtx\" # mine\n", "args = [\"mcp\", \"--checks\", \"off\"]\n"
	const below = "startup_timeout_sec = 20\n[mcp_servers.fsmtx.tools.step_start]\napproval_mode = \"approve\"\n"
	const other = "[mcp_servers.o]\ncommand = \"o\"\nenv_vars = [\"A\"]\n"
	const front = `"CODEX_HOME", "FSMTX_LOG", `
	const line, sources = "env_vars = [", `"A", {name = "XDG_STATE_HOME", source = "local"}, 'CLAUDE_CONFIG_DIR']` + "\n"
	for name, c := range map[string]struct{ file, want string }{
		"none": {other + head + args + below, other + head + varsLine + args + below},
		"no end": {"[mcp_servers.fsmtx]\n" + args + "command = '/bin/fsmtx'",
			"[mcp_servers.fsmtx]\n" + args + "command = '/bin/fsmtx'\n" + vars},
		"indented":        {"[mcp_servers]\n[mcp_servers.fsmtx]\n\t\"command\" = '/bin/fsmtx'\r\n\targs=['mcp']\n", ""},
		"an empty list":   {head + args + "env_vars = [ ]\n", head + args + strings.Replace(varsLine, "]", " ]", 1)},
		"some":            {other + head + line + sources + args, other + head + line + front + sources + args},
		"over many lines": {head + "'env_vars' = [ # why\n \"XDG_STATE_HOME\",\n]\n" + args, ""},
		"set itself":      {head + "env = {XDG_STATE_HOME = \"/x\"}\n" + args, ""},
		"dotted":          {"mcp_servers.fsmtx.command = \"/bin/fsmtx\"\nmcp_servers.fsmtx.args = [\"mcp\"]\n" + other, ""},
		"in braces":       {other + "[mcp_servers]\nfsmtx = {command = \"/bin/fsmtx\", args = [\"mcp\"]} # mine\n", ""},
		"a moved program": {strings.Replace(head+args, "/bin", "/old", 1), head + varsLine + args},
		"a mark":          {"\ufeff" + head + args, "\ufeff" + head + varsLine + args},
	} {
		t.Run(name, func(t *testing.T) {
			why, had, err := table.Inspect([]byte(c.file))
			require.NoError(t, err)
			assert.True(t, had)
			assert.Regexp(t, `^MCP server: (runs /old/fsmtx, want /bin/fsmtx; )?env_vars lacks .*CODEX_HOME`, why)
			out, err := table.Add([]byte(c.file))
			require.NoError(t, err)
			why, _, err = table.Inspect(out)
			require.NoError(t, err)
			assert.Empty(t, why)
			if c.want != "" {
				assert.Equal(t, c.want, string(out))
			}
			again, err := table.Add(out)
			require.NoError(t, err)
			assert.Equal(t, string(out), string(again))
			rest, had, err := table.Remove(out)
			require.NoError(t, err)
			assert.True(t, had)
			assert.NotContains(t, string(rest), "fsmtx")
		})
	}
	const theirs = head + args + "env_vars = \"A\"\n"
	out, err := table.Add([]byte(theirs))
	require.NoError(t, err, "Codex judges a list of another kind")
	assert.Equal(t, theirs, string(out))
}
