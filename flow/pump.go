package flow

import (
	"context"
	"errors"
	"fmt"

	"tarsy.dev/tarsy/flow/journal"
)

// pump takes the entries of one type from the journal of a branch, in order, and does something with each.
type pump struct {
	name     string
	branch   *Branch
	typeName string
	take     func(context.Context, Entry) error
	ledger   *ledger
	after    journal.Position // where it begins; set before it starts
}

// routePump carries the entries of a rule.
func routePump(rule Rule) *pump {
	return &pump{
		name:     fmt.Sprintf("route %s → %s", rule.from.typeName, rule.to.typeName),
		branch:   rule.from.branch,
		typeName: rule.from.typeName,
		take: func(ctx context.Context, entry Entry) error {
			result, err := rule.carry(ctx, entry)
			if errors.Is(err, ErrSkip) {
				return nil
			}

			if err != nil {
				return err
			}

			return rule.to.branch.append(ctx, []Entry{result})
		},
	}
}

// portPump hands entries to the branch that consumes them.
func portPump(p *port) *pump {
	return &pump{
		name:   fmt.Sprintf("%s consumes %s", p.branch.name, p.typeName),
		branch: p.branch, typeName: p.typeName, take: p.handle,
	}
}

// run implements Run.
func (p *pump) run(ctx context.Context, ready func()) error {
	ready()

	for record, err := range p.branch.journal.Tail(ctx, p.after) {
		if err != nil {
			return err
		}

		if record.Entry.Type == p.typeName {
			err := p.take(ctx, record.Entry)
			if err != nil {
				return fmt.Errorf("entry %d: %w", record.Position, err)
			}
		}

		p.ledger.pass(p, record.Position)
	}

	return nil
}
