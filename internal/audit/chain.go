// Package audit is the audit log: how rows are encoded and hashed, how a sequence of rows is verified, and how the row of a
// decision is stored in the same transaction as its change. The surfaces (API, chat bots and so on) supply the actor and the
// action.
package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/plaintext"
)

// version starts every encoding, so that a later encoding of the same fields yields different hashes.
const version = "tarsy-audit-1"

// maxText is the maximum length in bytes of externally supplied text.
const maxText = 1000

// FirstHash is the previous hash of the first row.
func FirstHash() string { return strings.Repeat("0", hex.EncodedLen(sha256.Size)) }

// Link completes an entry as the next row of a chain, after the row with this ID and hash. The first row has ID 1.
func Link(entry tarsy.AuditEntry, lastID int64, lastHash string) tarsy.AuditEntry {
	entry.ID, entry.PrevHash = lastID+1, lastHash
	entry.At = calendar.Time(entry.At)
	entry.Actor, entry.TargetID, entry.Remote = clean(entry.Actor), clean(entry.TargetID), clean(entry.Remote)

	details := make(map[string]string, len(entry.Details))
	for name, value := range entry.Details {
		details[name] = clean(value)
	}

	entry.Details = details
	entry.Hash = Hash(entry)

	return entry
}

// clean makes text round-trip unchanged through the database and JSON, and truncates it.
func clean(text string) string { return plaintext.Cut(plaintext.Clean(text), maxText) }

// Hash returns the hash of a row, over all of its fields except the hash itself.
func Hash(entry tarsy.AuditEntry) string {
	sum := sha256.Sum256(encode(entry))

	return hex.EncodeToString(sum[:])
}

// encode writes the fields in a fixed order, each prefixed with its length. The encoding is injective: no field can be mistaken
// for the end of another.
func encode(entry tarsy.AuditEntry) []byte {
	fields := []string{
		version, entry.PrevHash, strconv.FormatInt(entry.ID, 10), entry.At.UTC().Format(time.RFC3339Nano),
		entry.Actor, string(entry.ActorKind), entry.KeyID, entry.KeyPrefix, string(entry.Role),
		entry.Action, entry.TargetType, entry.TargetID, entry.RequestID, entry.Remote, entry.Outcome,
		strconv.Itoa(len(entry.Details)),
	}

	for _, name := range slices.Sorted(maps.Keys(entry.Details)) {
		fields = append(fields, name, entry.Details[name])
	}

	var b []byte

	for _, field := range fields {
		b = strconv.AppendInt(b, int64(len(field)), 10)
		b = append(b, ':')
		b = append(b, field...)
		b = append(b, '\n')
	}

	return b
}

// BrokenError identifies the first row at which a chain is broken.
type BrokenError struct {
	// ID is the ID stored in the row.
	ID int64
	// Reason describes the problem.
	Reason string
}

// Error implements error.
func (e *BrokenError) Error() string { return fmt.Sprintf("row %d: %s", e.ID, e.Reason) }

// Verifier checks rows in log order, starting with the first. The zero value is ready to use.
type Verifier struct {
	count int64
	head  string
}

// Add checks the next row. Errors are of type *BrokenError; do not use the Verifier after one.
func (v *Verifier) Add(entry tarsy.AuditEntry) error {
	switch {
	case entry.ID != v.count+1:
		return &BrokenError{ID: entry.ID, Reason: fmt.Sprintf("row %d should be here: rows were removed, inserted or reordered", v.count+1)}
	case entry.PrevHash != v.Head():
		return &BrokenError{ID: entry.ID, Reason: "it does not continue from the previous row: one of the two was changed or replaced"}
	case entry.Hash != Hash(entry):
		return &BrokenError{ID: entry.ID, Reason: "its contents do not match its hash: it was changed"}
	}

	v.count, v.head = entry.ID, entry.Hash

	return nil
}

// Count returns the number of verified rows.
func (v *Verifier) Count() int64 { return v.count }

// Head returns the hash of the last verified row. Stored elsewhere, it later proves that no row up to it was removed or
// rewritten.
func (v *Verifier) Head() string {
	if v.count == 0 {
		return FirstHash()
	}

	return v.head
}
