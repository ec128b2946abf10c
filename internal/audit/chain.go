// Package audit is the audit log: how a row is encoded and hashed, how a sequence of rows is verified, and how the row of a decision is
// stored in the transaction of its change. Who decides what is for the surfaces to say.
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

// version begins every encoding, so that a later encoding of the same fields has other hashes.
const version = "tarsy-audit-1"

// maxText is how many bytes a text that others chose has at most.
const maxText = 1000

// FirstHash is the previous hash of the first row.
func FirstHash() string { return strings.Repeat("0", hex.EncodedLen(sha256.Size)) }

// Link completes an entry as the next row of a chain, after the row with this id and hash. The first row has the id 1.
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

// clean makes a text one that a database and JSON return unchanged, and bounds it.
func clean(text string) string { return plaintext.Cut(plaintext.Clean(text), maxText) }

// Hash is the hash of a row, over all of its fields but the hash itself.
func Hash(entry tarsy.AuditEntry) string {
	sum := sha256.Sum256(encode(entry))

	return hex.EncodeToString(sum[:])
}

// encode writes the fields in a fixed order, each with its length in front. Two different rows never have the same encoding: no field
// can be taken for the end of another.
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

// BrokenError is the first row at which a chain is broken.
type BrokenError struct {
	// ID is the row, as it is written there.
	ID int64
	// Reason is what is wrong with it.
	Reason string
}

// Error implements error.
func (e *BrokenError) Error() string { return fmt.Sprintf("row %d: %s", e.ID, e.Reason) }

// Verifier checks rows in the order of the log, from the first on. The zero value has seen none.
type Verifier struct {
	count int64
	head  string
}

// Add checks the next row. The error is a *BrokenError; a Verifier that returned one checks nothing more.
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

// Count is how many rows were verified.
func (v *Verifier) Count() int64 { return v.count }

// Head is the hash of the last verified row. Kept elsewhere, it proves later that no row up to it was removed or rewritten.
func (v *Verifier) Head() string {
	if v.count == 0 {
		return FirstHash()
	}

	return v.head
}
