package cassette

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// canonical returns a body in a form that is the same for bodies with the same meaning: without white space and ignored
// fields, members sorted, numbers in one notation. A body that is not JSON is returned unchanged.
func canonical(body []byte, ignore []string) string {
	tree, err := parseTree(body)
	if err != nil {
		return string(body)
	}

	return string(appendTree(nil, sorted(tree, ignore)))
}

// sorted returns a copy of a tree in canonical form.
func sorted(tree any, ignore []string) any {
	switch v := tree.(type) {
	case object:
		members := object{}

		for _, p := range v {
			if !slices.Contains(ignore, p.name) {
				members = append(members, pair{p.name, sorted(p.value, ignore)})
			}
		}

		slices.SortStableFunc(members, func(a, b pair) int { return cmp.Compare(a.name, b.name) })

		return members
	case list:
		items := make(list, len(v))
		for i := range v {
			items[i] = sorted(v[i], ignore)
		}

		return items
	case json.Number:
		return oneForm(v)
	default:
		return v
	}
}

// oneForm writes 1, 1.0 and 1e0 alike; numbers too large for a float64 to be exact are unchanged.
func oneForm(n json.Number) json.Number {
	const exact = 1 << 53

	value, err := n.Float64()
	if err != nil || math.Abs(value) >= exact {
		return n
	}

	return json.Number(strconv.FormatFloat(value, 'g', -1, 64))
}

// flatten maps the path of each value in a canonical tree to its JSON.
func flatten(tree any, path string, into map[string]string) {
	switch v := tree.(type) {
	case object:
		for _, p := range v {
			flatten(p.value, strings.TrimPrefix(path+"."+p.name, "."), into)
		}
	case list:
		for i, item := range v {
			flatten(item, fmt.Sprintf("%s[%d]", path, i), into)
		}
	default:
		into[path] = string(appendTree(nil, tree))
	}
}

func flat(body string) map[string]string {
	into := map[string]string{}

	tree, err := parseTree([]byte(body))
	if err != nil {
		tree = body
	}

	flatten(tree, "", into)

	return into
}

// maxDifferences is how many differences are reported.
const maxDifferences = 5

// differences returns how a request differs from a recording, both in canonical form.
func differences(recorded, asked string) []string {
	was, is := flat(recorded), flat(asked)

	var found []string

	for path, value := range was {
		if now, ok := is[path]; !ok {
			found = append(found, fmt.Sprintf("%s: recorded %s, not asked", name(path), short(value)))
		} else if now != value {
			found = append(found, fmt.Sprintf("%s: recorded %s, asked %s", name(path), short(value), short(now)))
		}
	}

	for path, value := range is {
		if _, ok := was[path]; !ok {
			found = append(found, fmt.Sprintf("%s: not recorded, asked %s", name(path), short(value)))
		}
	}

	slices.Sort(found)

	return found
}

func name(path string) string {
	if path == "" {
		return "the body"
	}

	return path
}

// short truncates a value to fit into a message. It does not split a character.
func short(value string) string {
	const limit = 80
	if len(value) <= limit {
		return value
	}

	cut := limit
	for cut > 0 && !utf8.RuneStart(value[cut]) {
		cut--
	}

	return value[:cut] + "…"
}
