package oidc

import (
	"slices"
	"strings"
	"unicode/utf8"

	"tarsy.dev/tarsy/internal/plaintext"
)

// Limits of claims. Values beyond them are dropped, never truncated: a truncated group could be the name of another group.
const (
	maxGroups  = 1000
	maxGroup   = 256
	maxSubject = 255
	maxName    = 200
	maxShown   = 300
)

// User is the logged-in user, as described by the issuer.
type User struct {
	// Issuer and Subject identify the user. The other fields are for display and roles.
	Issuer, Subject string
	Name            string
	Groups, Teams   []string
}

// user reads the claims of a user.
func (p *Provider) user(subject string, claims map[string]any) (User, error) {
	if !isPlain(subject, maxSubject) {
		return User{}, failed("read the claims", errSubject)
	}

	return User{
		Issuer: p.cfg.Issuer, Subject: subject, Name: p.name(subject, claims),
		Groups: list(claims, p.cfg.GroupsClaim), Teams: list(claims, p.cfg.TeamsClaim),
	}, nil
}

// name returns the display name of the user. At some issuers users can choose any name, so no decision may depend on it.
func (p *Provider) name(subject string, claims map[string]any) string {
	candidates := []any{claims["preferred_username"], subject}

	if verified := claims["email_verified"]; verified == true || verified == "true" {
		candidates = slices.Insert(candidates, 0, claims["email"])
	}

	if p.cfg.NameClaim != "" {
		candidates = slices.Insert(candidates, 0, find(claims, p.cfg.NameClaim))
	}

	for _, candidate := range candidates {
		if text, ok := candidate.(string); ok {
			if name := cleanName(text); name != "" {
				return name
			}
		}
	}

	return subject
}

// find returns a claim by name or, if there is none, by interpreting the name as a path.
func find(claims map[string]any, name string) any {
	if value, ok := claims[name]; ok {
		return value
	}

	var value any = claims

	for part := range strings.SplitSeq(name, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}

		value = object[part]
	}

	return value
}

// list returns the strings of a claim that is a list or a single string.
func list(claims map[string]any, name string) []string {
	if name == "" {
		return nil
	}

	var texts []string

	switch value := find(claims, name).(type) {
	case string:
		texts = []string{value}
	case []any:
		for _, item := range value {
			if text, ok := item.(string); ok {
				texts = append(texts, text)
			}
		}
	}

	slices.Sort(texts)
	texts = slices.DeleteFunc(slices.Compact(texts), func(text string) bool { return !isPlain(text, maxGroup) })

	return texts[:min(len(texts), maxGroups)]
}

// isPlain reports whether a text can be compared and shown verbatim.
func isPlain(text string, limit int) bool {
	return text != "" && len(text) <= limit && utf8.ValidString(text) && text == strings.TrimSpace(text) && !strings.ContainsFunc(text, plaintext.Invisible)
}

// cleanName reduces a name to one line without characters that affect adjacent text.
func cleanName(name string) string {
	name = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if plaintext.Invisible(r) {
			return ' '
		}

		return r
	}, plaintext.Clean(name))), " ")

	runes := []rune(name)

	return strings.TrimSpace(string(runes[:min(len(runes), maxName)]))
}

// short makes text of the issuer safe for the log.
func short(text string) string {
	return plaintext.Cut(strings.Map(func(r rune) rune {
		if plaintext.Invisible(r) {
			return ' '
		}

		return r
	}, plaintext.Clean(text)), maxShown)
}
