package hooks

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestExpand(t *testing.T) {
	vars := []Variable{{"DIR", "/a b"}}
	for command, want := range map[string]string{
		`$DIR/h`:                 `'/a b'/h`,
		`${DIR}/h`:               `'/a b'/h`,
		`"$DIR/h"`:               `"$DIR/h"`,
		`'$DIR/h'`:               `'/a b/h'`,
		`\$DIR`:                  `\$DIR`,
		`$DIRECTORY`:             `$DIRECTORY`,
		`${DIR:-x}`:              `${DIR:-x}`,
		`"$(cat $DIR/h)"`:        `"$(cat '/a b'/h)"`,
		`"$(cat "$DIR/h")" $DIR`: `"$(cat "$DIR/h")" '/a b'`,
		"`cat $DIR`":             "`cat '/a b'`",
		"true # don't\n$DIR":     "true # don't\n'/a b'",
		`a#'b' $DIR`:             `a#'b' '/a b'`,
		"cat <<E\n$DIR\nE":       "cat <<E\n$DIR\nE",
		`cat <<<$DIR`:            `cat <<<'/a b'`,
		`echo "it's" $DIR`:       `echo "it's" '/a b'`,
		`(cd $DIR); echo ")" $D`: `(cd '/a b'); echo ")" $D`,
		`echo $`:                 `echo $`,
		`echo \`:                 `echo \`,
	} {
		require.Equal(t, want, expand(command, vars), command)
	}
}

// Whatever a directory is called, the shell sees its name and runs nothing.
func TestExpandedValueIsOneWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringOfN(rapid.SampledFrom([]rune("a '\"$`;&|(){}#\\*\n\t~!=é")), 0, 12, -1).Draw(t, "value")
		command := expand(`printf '%s|' $V '$V' "$V" ${V} "$(printf %s $V)" x$V`, []Variable{{"V", value}})
		cmd := exec.Command("/bin/sh", "-c", command)
		cmd.Env = []string{"V=" + value}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		substituted := strings.TrimRight(value, "\n") // as $( ) does
		want := strings.Join([]string{value, value, value, value, substituted, "x" + value}, "|") + "|"
		if string(out) != want {
			t.Fatalf("%s\nwant %q\ngot  %q", command, want, out)
		}
	})
}
