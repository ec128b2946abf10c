// Package auth issues API keys and decides what they allow. A key's secret leaves this package once, when the key is issued;
// everything else works with its hash.
//
// It knows nothing of HTTP or of key storage.
package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
)

// A secret is "tarsy_", the key's prefix, "_" and 52 random characters of base32, which is 260 bits.
const (
	secretStart  = "tarsy_"
	prefixLength = 8
	maxName      = 100
	maxTeams     = 20
)

// Issued is a newly issued key. Secret is shown to its owner and not stored; Hash is stored.
type Issued struct {
	Key    tarsy.APIKey
	Secret string
	Hash   []byte
}

// Issue creates a key. An invalid name or scope is a *tarsy.Error.
func Issue(name string, scopes []tarsy.Scope, now time.Time) (Issued, error) {
	name, err := cleanName(name)
	if err != nil {
		return Issued{}, err
	}

	scopes, err = cleanScopes(scopes)
	if err != nil {
		return Issued{}, err
	}

	prefix := strings.ToLower(rand.Text()[:prefixLength])
	secret := secretStart + prefix + "_" + strings.ToLower(rand.Text()+rand.Text())

	return Issued{
		Key:    tarsy.APIKey{ID: ident.New(), Name: name, Prefix: prefix, Scopes: scopes, CreatedAt: now.UTC(), Teams: []string{}},
		Secret: secret,
		Hash:   Hash(secret),
	}, nil
}

// ExpireAt sets the expiry of the key. A time in the past is a *tarsy.Error.
func (i *Issued) ExpireAt(at, now time.Time) error {
	if !at.After(now) {
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "expires_at", "expires_at must be in the future")
	}

	i.Key.ExpiresAt = new(at.UTC().Truncate(time.Microsecond))

	return nil
}

// LimitTo limits the key to the sessions of some teams. None means all.
func (i *Issued) LimitTo(teams []string) error {
	if len(teams) > maxTeams {
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "teams", "a key can have %d teams", maxTeams)
	}

	for _, team := range teams {
		switch team = strings.TrimSpace(plaintext.Clean(team)); {
		case team == "" || utf8.RuneCountInString(team) > maxName || strings.ContainsFunc(team, unicode.IsControl):
			return tarsy.FieldErrorf(tarsy.CodeInvalidField, "teams", "the name of a team has 1 to %d characters and no control characters", maxName)
		case !slices.Contains(i.Key.Teams, team):
			i.Key.Teams = append(i.Key.Teams, team)
		}
	}

	return nil
}

// Hash returns what is stored of a secret. Secrets are long and random, so a plain hash is safe.
func Hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))

	return sum[:]
}

// MayBeSecret reports whether s has the form of a secret. Anything else is rejected without querying the database.
func MayBeSecret(s string) bool {
	prefix, rest, ok := strings.Cut(strings.TrimPrefix(s, secretStart), "_")

	return strings.HasPrefix(s, secretStart) && ok && ValidPrefix(prefix) && rest != "" && isPlain(rest)
}

// ValidPrefix reports whether s has the form of a key's prefix.
func ValidPrefix(s string) bool { return len(s) == prefixLength && isPlain(s) }

func isPlain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}

// Scopes lists every scope, weakest first.
func Scopes() []tarsy.Scope {
	return []tarsy.Scope{tarsy.ScopeRead, tarsy.ScopeWrite, tarsy.ScopeAdmin}
}

// Allows reports whether the scopes of a key include the needed one: admin includes write, write includes read.
func Allows(scopes []tarsy.Scope, needed tarsy.Scope) bool {
	need := slices.Index(Scopes(), needed)

	return slices.ContainsFunc(scopes, func(s tarsy.Scope) bool { return need >= 0 && slices.Index(Scopes(), s) >= need })
}

func cleanName(name string) (string, error) {
	name = strings.TrimSpace(plaintext.Clean(name))

	switch {
	case name == "":
		return "", tarsy.FieldErrorf(tarsy.CodeMissingField, "name", "a key needs a name that identifies its user")
	case utf8.RuneCountInString(name) > maxName:
		return "", tarsy.FieldErrorf(tarsy.CodeInvalidField, "name", "name is longer than %d characters", maxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", tarsy.FieldErrorf(tarsy.CodeInvalidField, "name", "name contains control characters")
	}

	return name, nil
}

func cleanScopes(scopes []tarsy.Scope) ([]tarsy.Scope, error) {
	for i, scope := range scopes {
		if !slices.Contains(Scopes(), scope) {
			return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, fmt.Sprintf("scopes[%d]", i),
				"there is no scope %q: the scopes are read, write and admin", scope)
		}
	}

	// Ordered and without duplicates.
	kept := slices.DeleteFunc(Scopes(), func(s tarsy.Scope) bool { return !slices.Contains(scopes, s) })
	if len(kept) == 0 {
		return nil, tarsy.FieldErrorf(tarsy.CodeMissingField, "scopes", "a key needs at least one scope of read, write and admin")
	}

	return kept, nil
}
