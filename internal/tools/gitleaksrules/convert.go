package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"tarsy.dev/tarsy/internal/mask/gitleaks"
)

// source is the format of gitleaks' own file. It lists every key: a key added by a later release is an error, because
// it may change what the rules mean.
type source struct {
	Title      string `toml:"title"`
	MinVersion string `toml:"minVersion"`
	Allowlist  list   `toml:"allowlist"`
	Rules      []struct {
		ID          string   `toml:"id"`
		Description string   `toml:"description"`
		Path        string   `toml:"path"`
		Regex       string   `toml:"regex"`
		SecretGroup int      `toml:"secretGroup"`
		Entropy     float64  `toml:"entropy"`
		Keywords    []string `toml:"keywords"`
		Allowlists  []list   `toml:"allowlists"`
	} `toml:"rules"`
}

type list struct {
	Description string   `toml:"description"`
	Condition   string   `toml:"condition"`
	Paths       []string `toml:"paths"`
	RegexTarget string   `toml:"regexTarget"`
	Regexes     []string `toml:"regexes"`
	StopWords   []string `toml:"stopwords"`
}

// replaced are the rules that our own patterns replace. Their matches span lines, and finding them takes a thousand
// times longer than finding others.
var replaced = []string{"private-key", "curl-auth-header", "curl-auth-user"}

// convert keeps the rules that apply to any text, reduced to what the masker uses.
func convert(text []byte) (gitleaks.File, error) {
	var from source

	decoder := toml.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()

	if err := decoder.Decode(&from); err != nil {
		if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok {
			return gitleaks.File{}, fmt.Errorf("unknown keys in the rules:\n%s", unknown.String())
		}

		return gitleaks.File{}, fmt.Errorf("read the rules: %w", err)
	}

	to := gitleaks.File{Allowlist: from.Allowlist.convert()}

	for _, r := range from.Rules {
		// A rule with a path applies only to files of that name, and one without keywords would have to be tried everywhere.
		if r.Path != "" || r.Regex == "" || len(r.Keywords) == 0 || slices.Contains(replaced, r.ID) {
			continue
		}

		rule := gitleaks.Rule{ID: r.ID, Keywords: lowered(r.Keywords), Regex: r.Regex, SecretGroup: r.SecretGroup, Entropy: r.Entropy}

		for _, l := range r.Allowlists {
			// A list that requires a path never applies to text without one.
			if l.all() && len(l.Paths) > 0 || len(l.Regexes)+len(l.StopWords) == 0 {
				continue
			}

			rule.Allowlists = append(rule.Allowlists, l.convert())
		}

		to.Rules = append(to.Rules, rule)
	}

	return to, nil
}

func (l list) all() bool { return strings.EqualFold(l.Condition, "AND") || l.Condition == "&&" }

func (l list) convert() gitleaks.Allowlist {
	words := lowered(l.StopWords)
	slices.Sort(words)

	return gitleaks.Allowlist{All: l.all(), Target: l.RegexTarget, Regexes: l.Regexes, StopWords: slices.Compact(words)}
}

func lowered(words []string) []string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = strings.ToLower(word)
	}

	return out
}
