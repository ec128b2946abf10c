package flow

import (
	"context"
	"errors"
	"fmt"

	"tarsy.dev/tarsy/flow/journal"
)

// pump reads the journal of a branch in order and calls a function for each entry of certain types.
type pump struct {
	name   string
	branch *Branch
	takes  map[string]func(context.Context, Entry) error // by type
	ledger *ledger
	after  journal.Position // reads entries after this position; set before the start
}

// routesPump returns the pump for the routes of a branch, or nil if it has none. One pump serves all routes, so that entries of
// different types arrive in the order in which they were produced.
func routesPump(branch *Branch, rules []Rule) *pump {
	p := &pump{name: "routes of " + branch.name, branch: branch, takes: map[string]func(context.Context, Entry) error{}}

	for _, rule := range rules {
		if rule.from.branch == branch && !rule.terminal {
			p.takes[rule.from.typeName] = rule.follow
		}
	}

	if len(p.takes) == 0 {
		return nil
	}

	return p
}

// follow routes one entry.
func (r Rule) follow(ctx context.Context, entry Entry) error {
	result, err := r.carry(ctx, entry)
	if errors.Is(err, ErrSkip) {
		return nil
	}

	if err != nil {
		return fmt.Errorf("%s → %s: %w", r.from.typeName, r.to.typeName, err)
	}

	return r.to.branch.append(ctx, []Entry{result})
}

// portPump returns the pump that passes entries to the port that consumes them.
func portPump(p *port) *pump {
	return &pump{
		name:   fmt.Sprintf("%s consumes %s", p.branch.name, p.typeName),
		branch: p.branch, takes: map[string]func(context.Context, Entry) error{p.typeName: p.handle},
	}
}

// run implements Run.
func (p *pump) run(ctx context.Context, ready func()) error {
	ready()

	for record, err := range p.branch.journal.Tail(ctx, p.after) {
		if err != nil {
			return err
		}

		if take := p.takes[record.Entry.Type]; take != nil {
			err := take(ctx, record.Entry)
			if err != nil {
				return fmt.Errorf("entry %d: %w", record.Position, err)
			}
		}

		p.ledger.pass(p, record.Position)
	}

	return nil
}
