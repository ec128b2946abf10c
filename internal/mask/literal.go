package mask

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// mostLiterals is the maximum number of literals from one expression. An expression with more is treated as if it had none.
const mostLiterals = 256

// beginnings returns literals, in lower case, with one of which every match of an expression begins; nil if that is unknown. whole
// means that the expression matches only these literals. Non-ASCII letters that fold to k or s are omitted: the words of a rule do not
// find them either.
func beginnings(tree *syntax.Regexp) (literals []string, whole bool) {
	switch tree.Op {
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(tree.Rune))}, true
	case syntax.OpCharClass:
		return classLiterals(tree), true
	case syntax.OpCapture:
		return beginnings(tree.Sub[0])
	case syntax.OpQuest:
		literals, whole = beginnings(tree.Sub[0])
		if literals == nil {
			return nil, false
		}

		return append(literals, ""), whole
	case syntax.OpAlternate:
		whole = true

		for _, sub := range tree.Sub {
			some, exactly := beginnings(sub)
			if some == nil || len(literals)+len(some) > mostLiterals {
				return nil, false
			}

			literals, whole = append(literals, some...), whole && exactly
		}

		return literals, whole
	case syntax.OpConcat:
		return joinedBeginnings(tree.Sub)
	default:
		return nil, false
	}
}

func joinedBeginnings(parts []*syntax.Regexp) ([]string, bool) {
	literals := []string{""}

	for _, part := range parts {
		next, whole := beginnings(part)
		if next == nil || len(literals)*len(next) > mostLiterals {
			return literals, false
		}

		var joined []string

		for _, head := range literals {
			for _, tail := range next {
				joined = append(joined, head+tail)
			}
		}

		if literals = joined; !whole {
			return literals, false
		}
	}

	return literals, true
}

func classLiterals(class *syntax.Regexp) []string {
	var literals []string

	for i := 0; i < len(class.Rune); i += 2 {
		for r := class.Rune[i]; r <= class.Rune[i+1]; r++ {
			if isFold(r) {
				continue
			}

			if r >= utf8.RuneSelf || len(literals) == 8 {
				return nil
			}

			literals = append(literals, strings.ToLower(string(r)))
		}
	}

	slices.Sort(literals)

	return slices.Compact(literals)
}

// needs returns sets of literals, in lower case: a text that an expression matches contains at least one of each set.
func needs(tree *syntax.Regexp) [][]string {
	switch tree.Op {
	case syntax.OpLiteral:
		return [][]string{{strings.ToLower(string(tree.Rune))}}
	case syntax.OpCapture, syntax.OpPlus:
		return needs(tree.Sub[0])
	case syntax.OpRepeat:
		if tree.Min > 0 {
			return needs(tree.Sub[0])
		}
	case syntax.OpConcat:
		var sets [][]string
		for _, sub := range tree.Sub {
			sets = append(sets, needs(sub)...)
		}

		return sets
	case syntax.OpAlternate:
		var either []string

		for _, sub := range tree.Sub {
			sets := needs(sub)
			if len(sets) == 0 {
				return nil
			}

			either = append(either, slices.MaxFunc(sets, func(a, b []string) int { return shortestOf(a) - shortestOf(b) })...)
		}

		if len(either) <= mostLiterals {
			return [][]string{either}
		}
	default:
	}

	return nil
}

func shortestOf(list []string) int {
	shortest := len(list[0])
	for _, text := range list {
		shortest = min(shortest, len(text))
	}

	return shortest
}
