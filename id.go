package tarsy

import (
	"strings"

	"github.com/google/uuid"
)

// NewID returns a fresh UUIDv7: ids sort by the time they were made, which keeps index pages warm.
func NewID() string {
	return uuid.Must(uuid.NewV7()).String()
}

// ValidID reports whether s has the form of an id, in the one spelling that we use. Callers use it to answer "not found" without asking the database.
func ValidID(s string) bool {
	return len(s) == 36 && s == strings.ToLower(s) && uuid.Validate(s) == nil
}
