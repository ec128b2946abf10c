package flow

import (
	"fmt"
	"slices"
	"strings"
)

// BuildError lists every mistake in the declaration of a flow.
type BuildError struct{ Problems []string }

// Error implements error.
func (e *BuildError) Error() string {
	return fmt.Sprintf("the flow has %d problem(s):\n- %s", len(e.Problems), strings.Join(e.Problems, "\n- "))
}

// Build validates a declaration and returns the flow. Every type that a branch produces needs exactly one rule, every type that
// a branch consumes needs a route that leads to it, and a type belongs to one journal. The error is a *BuildError.
func Build(branches []*Branch, rules ...Rule) (*Flow, error) {
	check := &declaration{branches: branches, rules: rules}
	check.checkBranches()
	check.checkTypes()
	check.checkRules()
	check.checkPorts()

	if len(check.problems) > 0 {
		return nil, &BuildError{Problems: check.problems}
	}

	return newFlow(branches, rules), nil
}

type declaration struct {
	branches []*Branch
	rules    []Rule
	problems []string
}

func (d *declaration) problemf(format string, args ...any) {
	d.problems = append(d.problems, fmt.Sprintf(format, args...))
}

func (d *declaration) checkBranches() {
	if len(d.branches) == 0 {
		d.problemf("it has no branches")
	}

	names := map[string]bool{}

	for i, branch := range d.branches {
		switch {
		case branch == nil:
			d.problemf("branch %d is nil", i+1)
		case names[branch.name]:
			d.problemf("two branches are named %q", branch.name)
		case branch.ledger != nil:
			d.problemf("branch %q is already part of a flow", branch.name)
		}

		if branch != nil {
			names[branch.name] = true
		}
	}

	d.branches = slices.DeleteFunc(slices.Clone(d.branches), func(b *Branch) bool { return b == nil })
}

// checkTypes reports types that occur in two journals, or twice in one.
func (d *declaration) checkTypes() {
	owners := map[string]*Branch{}

	for _, branch := range d.branches {
		for _, port := range branch.ports {
			owner, taken := owners[port.typeName]

			switch {
			case taken && owner != branch:
				d.problemf("%s is in the journals of both %q and %q: give one of them its own type",
					port.typeName, owner.name, branch.name)
			case taken:
				d.problemf("%q declares %s twice", branch.name, port.typeName)
			}

			owners[port.typeName] = branch
		}
	}
}

func (d *declaration) checkRules() {
	for i, rule := range d.rules {
		if rule.from == nil || (rule.to == nil && !rule.terminal) {
			d.problemf("rule %d uses a port that no branch declared", i+1)

			continue
		}

		if !rule.terminal && rule.carry == nil {
			d.problemf("the route from %s to %s has no function", rule.from.typeName, rule.to.typeName)
		}

		for _, port := range []*port{rule.from, rule.to} {
			if port != nil && !slices.Contains(d.branches, port.branch) {
				d.problemf("a rule uses %s of branch %q, which is not part of the flow", port.typeName, port.branch.name)
			}
		}
	}
}

func (d *declaration) checkPorts() {
	for _, branch := range d.branches {
		for _, port := range branch.ports {
			switch port.direction {
			case produced:
				d.checkProduced(port)
			case consumed:
				if !slices.ContainsFunc(d.rules, func(r Rule) bool { return r.to == port }) {
					d.problemf("%q consumes %s, but no route leads to it", branch.name, port.typeName)
				}
			case logged:
			}
		}
	}
}

func (d *declaration) checkProduced(p *port) {
	routes, terminals := 0, 0

	for _, rule := range d.rules {
		switch {
		case rule.from != p:
		case rule.terminal:
			terminals++
		default:
			routes++
		}
	}

	switch {
	case routes == 0 && terminals == 0:
		d.problemf("%q produces %s, but it has neither a route nor a terminal", p.branch.name, p.typeName)
	case routes > 0 && terminals > 0:
		d.problemf("%s has both a route and a terminal", p.typeName)
	case routes > 1:
		d.problemf("%s has %d routes: a type has one", p.typeName, routes)
	case terminals > 1:
		d.problemf("%s is declared terminal %d times", p.typeName, terminals)
	}
}
