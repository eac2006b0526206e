package client

// Said is what the person said last, as far as it decides whether a turn may end.
type Said struct {
	Text  string // the last message; empty for a slash command
	Known bool   // the transcript contains the prompt of this turn
	Stop  bool   // the message asks to stop
}

// Ends reports whether the turn may end because of what the person said. A message that is
// not known yet may be a request to stop.
func (s Said) Ends() bool { return !s.Known || s.Stop }

// LastSaid reads the person's last message from a transcript. promptID is the prompt_id of
// the event, which may be empty: LastSaid waits up to two seconds for the client to write
// that prompt. Of a transcript that does not exist the message is empty, or not known.
func LastSaid(path, promptID string, words Words) Said {
	text, known := lastMessage(path, promptID)
	return Said{text, known, known && words.Requested(text)}
}

// maxInputs is how many of the person's last inputs can set a limit to the work.
const maxInputs = 20

// LastPart returns the part of the steps to which the person has limited the work, as Part
// does. The latest limit counts, unless the person has asked to go on since.
func LastPart(path string, all []Step) (asked []Step, limited bool) {
	left := maxInputs
	inputs(path, func(text string) bool {
		if asked, limited = Part(text, all); limited || GoesOn(text) {
			return false
		}
		left--
		return left > 0
	})
	return asked, limited
}

// GoesOn reports whether a message asks to go on with the work: it begins or ends so.
func GoesOn(message string) bool {
	on := DefaultWords()
	on.Stop = []string{"continue", "go on", "go ahead", "carry on", "keep going", "proceed", "resume"}
	on.open = append(on.After, "with", "to", "until", "then", "and", "the rest")
	return on.Requested(message)
}
