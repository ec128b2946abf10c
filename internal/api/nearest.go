package api

import "strings"

// hint says what a name that is not known should have been: the nearest one if it may be a slip, else what there is.
func hint(name string, known []string) string {
	best, distance := "", len(name)

	for _, candidate := range known {
		d := editDistance(strings.ToLower(name), candidate)
		if d < distance && d <= max(2, len(candidate)/3) { //nolint:mnd // one slip in three letters, two in short names
			best, distance = candidate, d
		}
	}

	switch {
	case best != "":
		return "did you mean " + best + "?"
	case len(known) == 0:
		return "there are none here"
	default:
		return "known are " + listed(known)
	}
}

// editDistance counts the insertions, deletions and replacements between two names.
func editDistance(from, to string) int {
	const longest = 64
	if len(from) > longest {
		return len(from)
	}

	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}

	for i := range len(from) {
		diagonal := row[0]
		row[0] = i + 1

		for j := range len(to) {
			replaced := diagonal
			if from[i] != to[j] {
				replaced++
			}

			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}

	return row[len(to)]
}
