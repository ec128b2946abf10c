package store

import (
	"slices"
	"strings"
	"unicode/utf8"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
)

// Limits on the fields of entities, projects and epics. Texts are counted in characters.
const (
	MaxTitle   = 300
	MaxContent = 20_000
	MaxOwner   = 100
	MaxTags    = 20
	MaxTag     = 50
	MaxName    = 200
)

// CleanTags returns tags as they are stored: lower case, trimmed, sorted, each once, empty ones left out.
func CleanTags(tags []string) ([]string, error) {
	clean := make([]string, 0, len(tags))

	for _, tag := range tags {
		tag = strings.ToLower(strings.Join(strings.Fields(plaintext.Clean(tag)), " "))
		if tag == "" {
			continue
		}

		if utf8.RuneCountInString(tag) > MaxTag {
			return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, "tags", "a tag has at most %d characters", MaxTag)
		}

		clean = append(clean, tag)
	}

	slices.Sort(clean)
	clean = slices.Compact(clean)

	if len(clean) > MaxTags {
		return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, "tags", "an entity has at most %d tags", MaxTags)
	}

	return clean, nil
}
