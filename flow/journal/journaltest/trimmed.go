package journaltest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow/journal"
)

// Trim drops all records of the journal under test.
type Trim func(ctx context.Context) error

// OpenTrimmed is Open for a journal whose records can be dropped.
type OpenTrimmed func(t *testing.T) (journal.Reader[string], Append, Trim)

// Trimmed checks that a reader reports dropped records and continues with the remaining ones.
func Trimmed(t *testing.T, open OpenTrimmed) {
	t.Helper()

	tests := map[string]func(*testing.T, *fixture, Trim){
		"a tail from a dropped position reports the first remaining one": tailOfTheTrimmed,
		"a tail from a remaining position is unaffected":                 tailOfTheRest,
		"a tail that waited at the end is unaffected":                    tailWaitedThrough,
		"a tail that fell behind gets a TrimmedError":                    tailFellBehind,
		"Head and Backward reflect the remaining records":                headAndBackward,
		"after two trims the journal begins at the last one":             trimmedTwice,
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			reader, appendTo, trim := open(t)

			ctx, cancel := context.WithTimeoutCause(t.Context(), patience,
				errors.New("the journal did not deliver what was appended"))
			t.Cleanup(cancel)

			base, err := reader.Head(ctx)
			require.NoError(t, err)

			test(t, &fixture{ctx: ctx, reader: reader, appendTo: appendTo, base: base}, trim)
		})
	}
}

// few is enough where pages do not matter: appends can be expensive.
const few = 5

// gone checks that a tail after the position ends immediately, with an error that names the first remaining record.
func (f *fixture) gone(t *testing.T, after journal.Position, first int) {
	t.Helper()

	seen := 0

	for _, err := range f.reader.Tail(f.ctx, after) {
		seen++

		var trimmed *journal.TrimmedError

		require.ErrorAs(t, err, &trimmed)
		require.Equal(t, f.at(first), trimmed.First)
	}

	require.Equal(t, 1, seen, "the error is the only thing, and the last")
}

func tailOfTheTrimmed(t *testing.T, f *fixture, trim Trim) {
	f.add(t, few)
	require.NoError(t, trim(f.ctx))

	for _, after := range []journal.Position{0, f.at(1), f.at(few - 1)} {
		f.gone(t, after, few+1)
	}

	f.add(t, 3)

	for _, after := range []journal.Position{0, f.at(1), f.at(few - 1)} {
		f.gone(t, after, few+1)
	}
}

func tailOfTheRest(t *testing.T, f *fixture, trim Trim) {
	f.add(t, 4)
	require.NoError(t, trim(f.ctx))
	f.add(t, many)

	for _, after := range []int{4, 5, many} {
		require.NoError(t, f.expect(f.ctx, after, 4+many))
	}
}

func tailWaitedThrough(t *testing.T, f *fixture, trim Trim) {
	f.add(t, 2)

	seen := 0
	for record, err := range f.reader.Tail(f.ctx, f.base) {
		require.NoError(t, err)

		seen++
		require.NoError(t, f.check(record, seen))

		switch seen {
		case 2:
			require.NoError(t, trim(f.ctx))
			f.add(t, 2)
		case 4:
			return
		}
	}
}

func tailFellBehind(t *testing.T, f *fixture, trim Trim) {
	f.add(t, 1)

	var last error

	seen := 0
	for _, err := range f.reader.Tail(f.ctx, f.base) {
		if last = err; err == nil && seen == 0 {
			seen++

			f.add(t, few)
			require.NoError(t, trim(f.ctx))
			f.add(t, 1)
		}
	}

	var trimmed *journal.TrimmedError

	require.ErrorAs(t, last, &trimmed)
	require.Equal(t, f.at(few+2), trimmed.First)
}

func headAndBackward(t *testing.T, f *fixture, trim Trim) {
	f.add(t, 5)
	require.NoError(t, trim(f.ctx))

	head, err := f.reader.Head(f.ctx)
	require.NoError(t, err)
	require.Equal(t, f.at(5), head)

	for record, err := range f.reader.Backward(f.ctx, 0) {
		require.Fail(t, "nothing is left", "%v %v", record, err)
	}

	f.add(t, 2)

	want := 7
	for record, err := range f.reader.Backward(f.ctx, 0) {
		require.NoError(t, err)
		require.NoError(t, f.check(record, want))

		want--
	}

	require.Equal(t, 5, want)
}

func trimmedTwice(t *testing.T, f *fixture, trim Trim) {
	f.add(t, 3)
	require.NoError(t, trim(f.ctx))
	require.NoError(t, trim(f.ctx))
	f.add(t, 3)
	require.NoError(t, trim(f.ctx))
	f.add(t, 1)

	f.gone(t, f.base, 7)
	f.gone(t, f.at(5), 7)
	require.NoError(t, f.expect(f.ctx, 6, 7))
}
