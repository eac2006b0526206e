package install

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/settings"
)

// vars and varsLine are the variables that the server gets, as Add writes them.
const (
	vars     = `env_vars = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "FSMTX_LOG", "XDG_STATE_HOME"]`
	varsLine = vars + "\n"
)

// found returns how the file differs from what add would write, and whether it has the server.
func found(table tomlServer, data []byte) (why string, had bool, err error) {
	r, err := table.inspect(data)
	return strings.Join(r.Why, "; "), r.State != settings.Absent, err
}

// removed returns the file without the server, and whether it is another one.
func removed(table tomlServer, data []byte) (rest []byte, other bool, err error) {
	rest, err = table.remove(data)
	return rest, err != nil || rest == nil && data != nil || string(rest) != string(data), err
}

// TestTableIsRemoved: from any file, and also after lines were added below it.
func TestTableIsRemoved(t *testing.T) {
	table := tomlServer{Command: `/a "b"/\c`}
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SampledFrom([]string{"", "\n", "\r\n", " \n\n", "\ufeff", "a = 1", "a = 1\r\nb = 2", "a = 1\n",
			"[x]\r\n", "# c\n\n", "\ufeffa = 1\n", "\ufeff[x]\r\n",
			"x = \"\"\"\n[y]\n\"\"\"\n", "[mcp_servers]\no = {command = \"o\"}\n"}).Draw(t, "file")
		added := must(table.add([]byte(before)))
		why, had, err := found(table, added)
		require.NoError(t, err)
		require.True(t, had)
		require.Empty(t, why)
		require.Equal(t, string(added), string(must(table.add(added))))
		rest, had, err := removed(table, added)
		require.NoError(t, err)
		require.True(t, had)
		require.NotNil(t, rest)
		require.Equal(t, before, string(rest))
		if !strings.HasSuffix(string(added), "\n") { // what is added later begins on a line of its own
			return
		}

		later := rapid.SampledFrom([]string{"[y]\n", "\n[y]\n", "# c\n[[z]]\nb = 2\n"}).Draw(t, "later")
		rest, _, err = removed(table, append(added, later...))
		require.NoError(t, err)
		require.Equal(t, before+later, string(rest))
	})
	rest, _, err := removed(table, must(table.add(nil)))
	require.NoError(t, err)
	require.Nil(t, rest, "it has made the file")
}

func TestTable(t *testing.T) {
	old, err := tomlServer{Command: "/old/fsmtx"}.add([]byte("a = 1\n"))
	require.NoError(t, err)
	table := tomlServer{Command: "/new/fsmtx"}
	why, had, err := found(table, old)
	require.NoError(t, err)
	assert.True(t, had)
	assert.Equal(t, "MCP server: runs /old/fsmtx, want /new/fsmtx", why)
	updated := must(table.add(old))
	assert.Contains(t, string(updated), `command = "/new/fsmtx"`)
	assert.NotContains(t, string(updated), "old")

	for own, want := range map[string]error{
		"[mcp_servers.fsmtx]\n": errServer, "[ mcp_servers . \"fsmtx\" ]\n": errServer, "[mcp_servers.fsmtx.env]\n": errServer,
		"x = 1\nmcp_servers.fsmtx = {}\n": errServer, "[\"mcp_servers\".fsmtx]\n": errServer,
		"[[mcp_servers.fsmtx]]\n":     errServer,
		"[mcp_servers]\nfsmtx = {}\n": errServer, "'mcp_servers' = {\"fsmtx\" = {}}\n": errServer,
		"mcp_servers = {}\n": errOneLine, "mcp_servers = {other = {}}": errOneLine, "mcp_servers = 1\n": errOneLine,
		"x = [\n": errTOML, "x = \"\"\"\n": errTOML, "x = 1\nx = 2\n": errTOML, "\ufeffx = \n": errTOML,
	} {
		_, err := table.add([]byte(own))
		require.ErrorIs(t, err, want, own)
		require.Regexp(t, `^\d+:\d+: `, err.Error())
		_, had, err := found(table, []byte(own))
		assert.False(t, had)
		if want == errServer || want == errTOML {
			require.ErrorIs(t, err, want, own)
		}
		rest, had, err := removed(table, []byte(own))
		require.NoError(t, err)
		assert.False(t, had)
		assert.Equal(t, own, string(rest))
	}
	for _, others := range []string{"[mcp_servers.other]\n", "[mcp_servers.fsmtx2]\n", "# [mcp_servers.fsmtx]\n",
		"mcp_servers.other.command = 'x'\n", "[mcp_servers]\nother = {}\n", "x = {\n a = 1,\n}\n"} {
		_, err := table.add([]byte(others))
		require.NoError(t, err, others)
	}
}

// TestCodexWritesInTheFileToo: what it and the person add to the file and to the server stays, and
// the server is found without the comments, of which Codex drops some (measured with 0.169.0).
func TestCodexWritesInTheFileToo(t *testing.T) {
	const server = "[mcp_servers.fsmtx]\ncommand = \"/bin/fsmtx\"\nargs = [\"mcp\"]\n" + varsLine
	table := tomlServer{Command: "/bin/fsmtx"}
	for name, c := range map[string]struct{ file, rest string }{
		"a table before the comment": {"a = 1\n" + server + "\n[features]\nhooks = true\n# mine\n",
			"a = 1\n\n[features]\nhooks = true\n# mine\n"},
		"our comment, and others": {"# a\n# fsmtx install: this MCP server\n" + server + "# b\n[b]\n", "# a\n# b\n[b]\n"},
		"our comment moved":       {"# fsmtx install: this MCP server\n[b]\n" + server, "# fsmtx install: this MCP server\n[b]\n"},
		"no comment":              {"a = 1\n" + server + "[b]\n", "a = 1\n[b]\n"},
		"its tools":               {server + "\n[mcp_servers.fsmtx.tools.step_start]\napproval_mode = \"approve\"\n\n[b]\n", "\n[b]\n"},
		"another order": {"[mcp_servers.fsmtx]\n# why\nstartup_timeout_sec = 5\nargs = [\n \"mcp\",\n]\n" +
			"command = '/bin/fsmtx'\n[b]\n", "[b]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			why, had, err := found(table, []byte(c.file))
			require.NoError(t, err)
			assert.True(t, had)
			assert.Empty(t, why)
			assert.Equal(t, c.file, string(must(table.add([]byte(c.file)))))
			rest, had, err := removed(table, []byte(c.file))
			require.NoError(t, err)
			assert.True(t, had)
			assert.Equal(t, c.rest, string(rest))
		})
	}

	const own = "[mcp_servers.fsmtx] # x\n# why\nenabled = true\ncommand = \"/old/fsmtx\"\n" + varsLine + "args = " +
		"[\"mcp\"]\n[mcp_servers.fsmtx.env]\nA = \"1\"\n"
	assert.Equal(t, strings.Replace(own, "/old/", "/bin/", 1), string(must(table.add([]byte(own)))), "only the program changes")
	const several = "/fsmtx\"\n" + varsLine + "args = [\n\"mcp\", \"--x\",\n]\n"
	out := must(table.add([]byte("[mcp_servers.fsmtx]\ncommand = \"/old" + several)))
	assert.Equal(t, "[mcp_servers.fsmtx]\ncommand = \"/bin"+several, string(out))
	_, _, err := removed(table, []byte(server+"x = [\n[1],\n[\"b\"]\n]\n"))
	require.ErrorIs(t, err, errTable, "a line like a header")
	_, _, err = removed(table, []byte(server+"x = [\n[1],\n[\"b\"\n"))
	require.ErrorIs(t, err, errTOML, "it may have the server")
}

func TestOnlyTheProgramIsUpdated(t *testing.T) {
	table := tomlServer{Command: "/bin/fsmtx"}
	const old = "[mcp_servers.fsmtx]\ncommand = \"/old/fsmtx\"\nargs = [\"mcp\"]\n" + varsLine
	const note = "note = \"\"\"\ncommand = \"/old/fsmtx\"\n\"\"\"\n"
	for _, other := range []string{"[x]\ncommand = \"/old/fsmtx\"\n", "x = nan\n" + note, "[mcp_servers.fsmtx.env]\ncommand = \"1\"\n"} {
		assert.Equal(t, other+strings.Replace(old, "/old/", "/bin/", 1)+note, string(must(table.add([]byte(other+old+note)))))
	}
}

// TestAnyFile: in a file with numbers that are none, times and tables the server is added, updated and removed.
func TestAnyFile(t *testing.T) {
	table := tomlServer{Command: "/bin/fsmtx"}
	for _, file := range []string{"x = nan\n", "[a]\nx = [[1, -nan], {y = +nan}]\nt = 2020-01-01T00:00:00+01:00\n[[b]]\nz = nan\n"} {
		old, err := tomlServer{Command: "/old/fsmtx"}.add([]byte(file))
		require.NoError(t, err, file)
		added := must(table.add(old))
		assert.Contains(t, string(added), "/bin/fsmtx")
		rest, had, err := removed(table, added)
		require.NoError(t, err, file)
		assert.True(t, had)
		assert.Equal(t, file, string(rest))
	}
}

// TestAServerInAnotherForm is left to the person, unless it is up to date.
func TestAServerInAnotherForm(t *testing.T) {
	for _, file := range []string{
		"a = 1\nmcp_servers.fsmtx.command = \"/bin/fsmtx\" # fsmtx\nmcp_servers.fsmtx.args = [\"mcp\"]\n",
		"[mcp_servers]\nfsmtx = {command = \"/bin/fsmtx\", args = [\"mcp\"]}\n",
		"[ mcp_servers . \"fsmtx\" ] # x\r\ncommand = '/bin/fsmtx'\r\nargs = ['mcp']\r\n",
	} {
		table := tomlServer{Command: "/bin/fsmtx"}
		why, had, err := found(table, []byte(file))
		require.NoError(t, err)
		assert.True(t, had)
		assert.Empty(t, why)
		assert.Equal(t, file, string(must(table.add([]byte(file)))))
		rest, had, err := removed(table, []byte(file))
		require.ErrorIs(t, err, errTable, "removed means gone")
		assert.True(t, had)
		assert.Equal(t, file, string(rest))
		_, err = tomlServer{Command: "/new/fsmtx"}.add([]byte(file))
		require.ErrorIs(t, err, errTable)
	}
}
