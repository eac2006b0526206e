package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
)

// errNotConfirmed is returned when nobody has typed the word at the terminal.
var errNotConfirmed = errors.New("the word was not typed")

// Confirm asks at the terminal itself, whatever the standard streams are, to type a word that it shows. why is a sentence that says
// what for. It waits until ctx ends.
//
// The error is that it was not typed, and why.
func (s Streams) Confirm(ctx context.Context, why string) error {
	open := s.Terminal
	if open == nil {
		open = openTerminal
	}
	t, err := open()
	if err != nil {
		return fmt.Errorf("%w: %w", errNotConfirmed, err)
	}
	word := words[rand.N(len(words))]
	if _, err := message.Fprintf(t, "%s\nType %s to go on: ", message.Line(why), word); err != nil {
		return fmt.Errorf("%w: %w", errNotConfirmed, err)
	}
	typed := make(chan string, 1)
	go func() { // the terminal may not be readable with a time limit; the process soon ends
		line, _ := bufio.NewReader(t).ReadString('\n')
		typed <- strings.TrimSpace(line)
	}()
	select {
	case line := <-typed:
		_ = t.Close()
		if line == word {
			return nil
		}
		return errNotConfirmed
	case <-ctx.Done():
		_, _ = io.WriteString(t, "\n")
		return errNotConfirmed
	}
}

// words are short, and not like any answer that a program gives unasked.
var words = [...]string{"kestrel", "walnut", "copper", "harbour", "meadow", "lantern", "pebble", "saffron", "thistle", "juniper", "velvet",
	"barley", "cobalt", "hazel", "magpie", "orchard"}
