package mask

import (
	"regexp/syntax"
	"unicode"
)

// capture returns the part of an expression that is the secret: the given group, or the first if it contains all others, or the whole
// expression if it has no groups or the secret may be in one of several.
func capture(tree *syntax.Regexp, group int) *syntax.Regexp {
	found := groupAt(tree, max(group, 1))
	if found == nil || group == 0 && countGroups(found) != countGroups(tree) {
		return tree
	}

	return found
}

// secretGroups returns the groups of an expression that contain its secret; a match has one of them. There are none if the whole match
// is the secret: a group that does not contain all others, such as the repeated part of a UUID, is only part of it.
func secretGroups(expression string, group int) []int {
	if group > 0 {
		return []int{group}
	}

	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil
	}

	branches := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpAlternate {
		branches = tree.Sub
	}

	var groups []int

	for _, branch := range branches {
		if found := outerGroup(branch); found != nil && countGroups(found) == countGroups(branch) {
			groups = append(groups, found.Cap)
		}
	}

	return groups
}

// outerGroup returns the first group of an expression, or nil.
func outerGroup(tree *syntax.Regexp) *syntax.Regexp {
	if tree.Op == syntax.OpCapture {
		return tree
	}

	for _, sub := range tree.Sub {
		if found := outerGroup(sub); found != nil {
			return found
		}
	}

	return nil
}

func groupAt(tree *syntax.Regexp, group int) *syntax.Regexp {
	if tree.Op == syntax.OpCapture && tree.Cap == group {
		return tree
	}

	for _, sub := range tree.Sub {
		if found := groupAt(sub, group); found != nil {
			return found
		}
	}

	return nil
}

// countGroups counts the groups in an expression, including itself.
func countGroups(tree *syntax.Regexp) int {
	count := 0
	if tree.Op == syntax.OpCapture {
		count = 1
	}

	for _, sub := range tree.Sub {
		count += countGroups(sub)
	}

	return count
}

// lengths returns the shortest and the longest match of an expression, in characters.
func lengths(tree *syntax.Regexp) (shortest, longest int) { return lengthsWithout(tree, nil) }

// lengthsWithout counts a part of the expression as empty.
func lengthsWithout(tree, part *syntax.Regexp) (shortest, longest int) {
	if tree == part {
		return 0, 0
	}

	switch tree.Op {
	case syntax.OpLiteral:
		return len(tree.Rune), len(tree.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, 1
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range tree.Sub {
			short, long := lengthsWithout(sub, part)
			shortest, longest = shortest+short, min(unbounded, longest+long)
		}

		return shortest, longest
	case syntax.OpAlternate:
		shortest = unbounded
		for _, sub := range tree.Sub {
			short, long := lengthsWithout(sub, part)
			shortest, longest = min(shortest, short), max(longest, long)
		}

		return shortest, longest
	case syntax.OpQuest:
		_, longest = lengthsWithout(tree.Sub[0], part)

		return 0, longest
	case syntax.OpStar:
		return 0, unbounded
	case syntax.OpPlus:
		shortest, _ = lengthsWithout(tree.Sub[0], part)

		return shortest, unbounded
	case syntax.OpRepeat:
		short, long := lengthsWithout(tree.Sub[0], part)
		if tree.Max < 0 {
			return short * tree.Min, unbounded
		}

		return short * tree.Min, min(unbounded, long*tree.Max)
	default: // zero-width, such as a word boundary
		return 0, 0
	}
}

// isCompact reports whether an expression matches only characters of a run.
func isCompact(tree *syntax.Regexp) bool {
	switch tree.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	case syntax.OpLiteral:
		for _, r := range tree.Rune {
			if r > 127 || !isRun(byte(r)) {
				return false
			}
		}
	case syntax.OpCharClass:
		for i := 0; i < len(tree.Rune); i += 2 {
			if isFold(tree.Rune[i]) {
				continue
			}

			for r := tree.Rune[i]; r <= min(tree.Rune[i+1], 128); r++ {
				if r > 127 || !isRun(byte(r)) {
					return false
				}
			}
		}
	default:
		for _, sub := range tree.Sub {
			if !isCompact(sub) {
				return false
			}
		}
	}

	return true
}

// collect adds the characters that an expression can match.
func collect(tree *syntax.Regexp, letters *[256]bool) {
	add := func(r rune) {
		for _, r := range []rune{r, unicode.ToLower(r), unicode.ToUpper(r)} {
			if r < 128 {
				letters[r] = true
			}
		}
	}

	switch tree.Op {
	case syntax.OpLiteral:
		for _, r := range tree.Rune {
			add(r)
		}
	case syntax.OpCharClass:
		for i := 0; i < len(tree.Rune); i += 2 {
			for r := tree.Rune[i]; r <= min(tree.Rune[i+1], 127); r++ {
				add(r)
			}
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		for r := range rune(128) {
			add(r)
		}
	default:
		for _, sub := range tree.Sub {
			collect(sub, letters)
		}
	}
}

// isFold reports whether r is a non-ASCII letter that (?i) adds to k and s.
func isFold(r rune) bool { return r == '\u017f' || r == '\u212a' }
