package flow

import (
	"context"
	"errors"
)

// ErrSkip is returned by the function of a route to drop an entry.
var ErrSkip = errors.New("skip this entry")

// Rule defines what happens to the entries of one port.
type Rule struct {
	from *port
	to   *port // nil for a terminal
	// carry converts an entry of from into an entry of to.
	carry    func(context.Context, Entry) (Entry, error)
	terminal bool
}

// Route carries each entry of from to another port. The function can return [ErrSkip] to drop an entry; any other error fails
// the daemon of the branch's routes.
func Route[A, B any](from Out[A], to In[B], transform func(context.Context, A) (B, error)) Rule {
	rule := Rule{from: from.port, to: to.port}
	if transform == nil || from.read == nil || to.wrap == nil {
		return rule
	}

	rule.carry = func(ctx context.Context, entry Entry) (Entry, error) {
		value, err := from.read(entry)
		if err != nil {
			return Entry{}, err
		}

		result, err := transform(ctx, value)
		if err != nil {
			return Entry{}, err
		}

		return to.wrap(result)
	}

	return rule
}

// Terminal declares that the entries of a port stay in its journal and are not routed.
func Terminal[A any](from Out[A]) Rule { return Rule{from: from.port, terminal: true} }
