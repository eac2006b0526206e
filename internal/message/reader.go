package message

// Sentences have readers. A text that was made for one of them is handed to another only where it is converted, in plain sight: an
// agent that reads "run it in a terminal" tries to, and a person who reads "tell the person" wonders whom.
type (
	// ForAgent is read by the model: it says what the model can do, and what it has to tell the person.
	ForAgent string
	// ForPerson is read by the person: it says what has happened, and what they can do.
	ForPerson string
	// ForBoth is the question of a call that waits for a yes: the person reads it, and the model, if nobody can be asked.
	ForBoth string
)
