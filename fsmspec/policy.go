package fsmspec

import "fmt"

// ParseScope returns the scope called "all" or "skill", or an error that wraps
// ErrUnknownScope.
func ParseScope(word string) (Scope, error) {
	for _, s := range []Scope{ScopeAll, ScopeSkill} {
		if word == s.String() {
			return s, nil
		}
	}
	return 0, fmt.Errorf("%w %q: all or skill", ErrUnknownScope, word)
}

// ParseActive returns the policy called "reset" or "refuse", or an error that
// wraps ErrUnknownActive.
func ParseActive(word string) (Active, error) {
	for _, a := range []Active{ActiveReset, ActiveRefuse} {
		if word == a.String() {
			return a, nil
		}
	}
	return 0, fmt.Errorf("%w %q: reset or refuse", ErrUnknownActive, word)
}

func (s Scope) String() string {
	switch s {
	case ScopeAll:
		return "all"
	case ScopeSkill:
		return "skill"
	default:
		return fmt.Sprintf("Scope(%d)", int(s))
	}
}

func (a Active) String() string {
	switch a {
	case ActiveReset:
		return "reset"
	case ActiveRefuse:
		return "refuse"
	default:
		return fmt.Sprintf("Active(%d)", int(a))
	}
}

func (k Kind) String() string {
	switch k {
	case Foreign:
		return "foreign"
	case Manual:
		return "manual"
	case Tagged:
		return "tagged"
	default:
		return fmt.Sprintf("Kind(%d)", int(k))
	}
}
