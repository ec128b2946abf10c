package tarsy

import (
	"strings"

	"github.com/google/uuid"
)

// NewID returns a new UUIDv7. IDs sort by creation time, which keeps index pages warm.
func NewID() string {
	return uuid.Must(uuid.NewV7()).String()
}

// ValidID reports whether s has the form of an ID in its canonical spelling. Callers use it to answer "not found" without
// querying the database.
func ValidID(s string) bool {
	return len(s) == 36 && s == strings.ToLower(s) && uuid.Validate(s) == nil
}
