// Package ident generates the IDs of stored objects.
package ident

import (
	"strings"

	"github.com/google/uuid"
)

// New returns a new UUIDv7. IDs sort by creation time, which keeps index pages warm.
func New() string {
	return uuid.Must(uuid.NewV7()).String()
}

// Valid reports whether s is an ID in canonical form. Callers use it to answer "not found" without querying the database.
func Valid(s string) bool {
	return len(s) == 36 && s == strings.ToLower(s) && uuid.Validate(s) == nil
}
