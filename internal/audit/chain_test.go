package audit_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
)

// entry draws an entry as a caller passes it to an append.
func entry(t *rapid.T, label string) tarsy.AuditEntry {
	text := rapid.StringN(0, 12, -1)

	return tarsy.AuditEntry{
		At:    time.Unix(0, rapid.Int64Range(0, 1<<60).Draw(t, label+" at")),
		Actor: text.Draw(t, label+" actor"), ActorKind: rapid.SampledFrom(tarsy.ActorKinds()).Draw(t, label+" kind"),
		KeyID: text.Draw(t, label+" key"), KeyPrefix: "abcdefgh", Role: tarsy.RoleResponder,
		Action: "session.cancel", TargetType: "session", TargetID: text.Draw(t, label+" target"), RequestID: "r-1", Remote: "192.0.2.1",
		Outcome: tarsy.AuditOK, Details: rapid.MapOfN(rapid.StringN(0, 4, -1), text, 0, 3).Draw(t, label+" details"),
	}
}

// chain draws a log with a minimum number of rows.
func chain(t *rapid.T, least int) []tarsy.AuditEntry {
	rows := make([]tarsy.AuditEntry, rapid.IntRange(least, least+6).Draw(t, "rows"))
	lastID, lastHash := int64(0), audit.FirstHash()

	for i := range rows {
		rows[i] = audit.Link(entry(t, fmt.Sprint("row ", i)), lastID, lastHash)
		lastID, lastHash = rows[i].ID, rows[i].Hash
	}

	return rows
}

// verify returns the head of a log, or the error if it is broken.
func verify(rows []tarsy.AuditEntry) (string, error) {
	var v audit.Verifier

	for _, row := range rows {
		if err := v.Add(row); err != nil {
			return "", err
		}
	}

	return v.Head(), nil
}

func TestChainSurvivesJSON(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		rows := chain(t, 0)

		text, err := json.Marshal(rows)
		require.NoError(t, err)

		var read []tarsy.AuditEntry

		require.NoError(t, json.Unmarshal(text, &read))

		head, err := verify(read)
		require.NoError(t, err)

		want := audit.FirstHash()
		if len(rows) > 0 {
			want = rows[len(rows)-1].Hash
		}

		require.Equal(t, want, head)
	})
}

// tamper draws one modification of a log other than an append. It returns the first row that can be invalid, counted from 0.
func tamper(t *rapid.T, rows []tarsy.AuditEntry) ([]tarsy.AuditEntry, int) {
	rows = slices.Clone(rows)
	at := rapid.IntRange(0, len(rows)-1).Draw(t, "at")

	switch rapid.SampledFrom([]string{"change", "rehash", "remove", "swap", "insert"}).Draw(t, "how") {
	case "change":
		changeField(t, &rows[at])
	case "rehash":
		changeField(t, &rows[at])
		rows[at].Hash = audit.Hash(rows[at])
	case "remove":
		rows = slices.Delete(rows, at, at+1)
	case "swap":
		other := rapid.IntRange(0, len(rows)-1).Filter(func(i int) bool { return i != at }).Draw(t, "other")
		rows[at], rows[other] = rows[other], rows[at]
		at = min(at, other)
	case "insert":
		previous := audit.FirstHash()
		if at > 0 {
			previous = rows[at-1].Hash
		}

		rows = slices.Insert(rows, at, audit.Link(entry(t, "inserted"), int64(at), previous))
	}

	return rows, at
}

// changeField changes one random field other than the hash.
func changeField(t *rapid.T, row *tarsy.AuditEntry) {
	value := reflect.ValueOf(row).Elem()
	names := make([]string, 0, value.NumField())

	for _, field := range reflect.VisibleFields(value.Type()) {
		if field.Name != "Hash" {
			names = append(names, field.Name)
		}
	}

	switch field := value.FieldByName(rapid.SampledFrom(names).Draw(t, "field")); field.Interface().(type) {
	case int64:
		field.SetInt(field.Int() + rapid.Int64Range(1, 9).Draw(t, "by"))
	case time.Time:
		row.At = row.At.Add(time.Duration(rapid.IntRange(1, 1000).Draw(t, "by")) * time.Microsecond)
	case map[string]string:
		details := map[string]string{"added": "x"}
		for name, text := range row.Details {
			details[name+"!"] = text
		}

		row.Details = details
	default:
		field.SetString(field.String() + "x")
	}
}

func TestTamperedChainIsDetectedWithItsHead(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		rows := chain(t, 2)
		want, err := verify(rows)
		require.NoError(t, err)

		tampered, at := tamper(t, rows)

		head, err := verify(tampered)
		if err == nil {
			// Anyone who can write the last row can replace it; only a head kept elsewhere reveals that.
			require.NotEqual(t, want, head)
			require.Equal(t, len(rows)-1, at, "only a change of the last row needs the head")

			return
		}

		var broken *audit.BrokenError

		require.ErrorAs(t, err, &broken)
		require.NotEmpty(t, broken.Reason)
	})
}

func TestChainBeginsWithItsFirstHash(t *testing.T) {
	t.Parallel()

	row := audit.Link(tarsy.AuditEntry{Actor: "ada"}, 0, audit.Hash(tarsy.AuditEntry{}))

	var (
		v      audit.Verifier
		broken *audit.BrokenError
	)

	require.ErrorAs(t, v.Add(row), &broken)
	require.Equal(t, int64(1), broken.ID)
}

// Logs outlive releases: a different encoding would make all of them look tampered with.
func TestHashesOfEarlierReleasesStayValid(t *testing.T) {
	t.Parallel()

	row := audit.Link(tarsy.AuditEntry{
		At: time.Date(2026, 11, 16, 10, 0, 0, 123_456_000, time.UTC), Actor: "ada", ActorKind: tarsy.ActorKinds()[0], KeyID: "k", KeyPrefix: "abcdefgh", Role: tarsy.RoleResponder,
		Action: "session.cancel", TargetType: "session", TargetID: "s-1", RequestID: "r-1", Remote: "192.0.2.1", Outcome: tarsy.AuditOK,
		Details: map[string]string{"b": "2", "a": "1"},
	}, 0, audit.FirstHash())

	require.Equal(t, "4504dbbce53da5087dd7df09147cf0351a2d7d3f63cb045dc6bd784d5446ba27", row.Hash)
}

func TestFieldsCannotBeShiftedIntoEachOther(t *testing.T) {
	t.Parallel()

	one := audit.Link(tarsy.AuditEntry{Actor: "ada", ActorKind: "key", Details: map[string]string{"a": "1:b"}}, 0, audit.FirstHash())
	for _, other := range []tarsy.AuditEntry{
		{Actor: "adak", ActorKind: "ey", Details: one.Details},
		{Actor: "ada", ActorKind: "key", Details: map[string]string{"a1": ":b"}},
		{Actor: "ada\n3:key", Details: one.Details},
	} {
		require.NotEqual(t, one.Hash, audit.Link(other, 0, audit.FirstHash()).Hash)
	}
}
