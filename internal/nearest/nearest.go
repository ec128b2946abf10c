// Package nearest suggests known names for a mistyped one.
package nearest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// maxListed is the maximum number of known names that a hint lists.
const maxListed = 12

// Hint suggests a known name for an unknown one: the nearest one if the name could be a typo of it, or else all known names,
// nearest first. What is the plural noun for the names.
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

// HintWithList is Hint for references, where the full list is useful as well.
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

// isNear allows one typo per three characters, and two in short names.
func isNear(name, candidate string) bool {
	const perSlip, slips = 3, 2
	allowed := max(slips, len(candidate)/perSlip)
	return min(len(name), len(candidate)) > slips && Distance(strings.ToLower(name), strings.ToLower(candidate)) <= allowed
}

// isPart matches a part of a name, such as instructions for custom_instructions.
func isPart(name, candidate string) bool {
	const telling = 5
	return len(name) >= telling && strings.Contains(candidate, name)
}

// Distance counts insertions, deletions, substitutions and transpositions of adjacent characters.
func Distance(from, to string) int {
	const longest = 100 // names are short; a longer one is not a typo
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
