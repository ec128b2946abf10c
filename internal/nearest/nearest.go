// Package nearest helps people who mistyped a name: which of the known names they may have meant.
package nearest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// maxListed is how many known names a hint lists before it only counts the rest.
const maxListed = 12

// Hint says what a name that is not known should have been: the nearest one if it could be a slip of the pen, else
// the known ones, nearest first. What is the plural of what the names name.
func Hint(name string, known []string, what string) string {
	if len(known) == 0 {
		return "there are no " + what
	}
	sorted := Sort(name, known)
	near := slices.IndexFunc(sorted, func(k string) bool { return isNear(name, k) })
	if near < 0 {
		near = slices.IndexFunc(sorted, func(k string) bool { return isPart(name, k) })
	}
	if near >= 0 {
		return "did you mean " + sorted[near] + "?"
	}
	return "known " + what + ": " + listNames(sorted)
}

// HintWithList is Hint for references, where the whole list helps as well.
func HintWithList(name string, known []string, what string) string {
	hint := Hint(name, known, what)
	if strings.HasPrefix(hint, "did you mean") {
		hint += " known " + what + ": " + listNames(Sort(name, known))
	}
	return hint
}

func listNames(names []string) string {
	if len(names) <= maxListed {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:maxListed], ", ") + " and " + strconv.Itoa(len(names)-maxListed) + " more"
}

// Sort returns the known names, nearest first.
func Sort(name string, known []string) []string {
	distances := make(map[string]int, len(known))
	for _, k := range known {
		distances[k] = Distance(strings.ToLower(name), strings.ToLower(k))
	}
	sorted := slices.Clone(known)
	slices.SortFunc(sorted, func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), cmp.Compare(a, b))
	})
	return sorted
}

// isNear allows one slip in three characters, and two in short names.
func isNear(name, candidate string) bool {
	const perSlip, slips = 3, 2
	allowed := max(slips, len(candidate)/perSlip)
	return min(len(name), len(candidate)) > slips && Distance(strings.ToLower(name), strings.ToLower(candidate)) <= allowed
}

// isPart notices instructions where custom_instructions is meant.
func isPart(name, candidate string) bool {
	const telling = 5
	return len(name) >= telling && strings.Contains(candidate, name)
}

// Distance counts insertions, deletions, replacements and swaps of neighbours.
func Distance(from, to string) int {
	const longest = 100 // names are short; a longer one is nobody's typing error
	a, b := []rune(from), []rune(to)
	if len(a) > longest || len(b) > longest {
		return max(len(a), len(b))
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
