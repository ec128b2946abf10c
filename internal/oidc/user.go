package oidc

import (
	"slices"
	"strings"
	"unicode/utf8"

	"tarsy.dev/tarsy/internal/plaintext"
)

// The bounds of claims. What exceeds them is dropped, never changed: a shortened group may be another one's name.
const (
	maxGroups  = 1000
	maxGroup   = 256
	maxSubject = 255
	maxName    = 200
	maxShown   = 300
)

// User is who logged in, as the issuer describes them.
type User struct {
	// Issuer and Subject identify the user. The other fields are for people and roles.
	Issuer, Subject string
	Name            string
	Groups, Teams   []string
}

// user reads the claims.
func (p *Provider) user(subject string, claims map[string]any) (User, error) {
	if !isPlain(subject, maxSubject) {
		return User{}, failed("read the claims", errSubject)
	}

	return User{
		Issuer: p.cfg.Issuer, Subject: subject, Name: p.name(subject, claims),
		Groups: list(claims, p.cfg.GroupsClaim), Teams: list(claims, p.cfg.TeamsClaim),
	}, nil
}

// name is what the user is called. Anybody may choose a name at some issuers: nothing is decided by it.
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

// find returns a claim by its name or, if there is none, by the path that the name is.
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

// list returns the texts of a claim that is a list, or one text.
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

// isPlain reports whether a text can be compared and shown as it is.
func isPlain(text string, limit int) bool {
	return text != "" && len(text) <= limit && utf8.ValidString(text) && text == strings.TrimSpace(text) && !strings.ContainsFunc(text, plaintext.Invisible)
}

// cleanName makes a name fit for a line: nothing in it acts on what stands beside it.
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

// short makes text of the issuer fit for the log.
func short(text string) string {
	return plaintext.Cut(strings.Map(func(r rune) rune {
		if plaintext.Invisible(r) {
			return ' '
		}

		return r
	}, plaintext.Clean(text)), maxShown)
}
