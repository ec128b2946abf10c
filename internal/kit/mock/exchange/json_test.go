package exchange_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

func TestAppendStringAppends(t *testing.T) {
	t.Parallel()

	//nolint:testifylint // the very bytes matter
	require.Equal(t, `{"a":"b \"c\" \\ \n\u0000"`, string(exchange.AppendString([]byte(`{"a":`), "b \"c\" \\ \n\x00")))
}

func TestAppendStringWithCapacityAllocatesNothing(t *testing.T) {
	buf, text := make([]byte, 0, 4096), strings.Repeat("plain and \n escaped, żółw; ", 20)
	require.Zero(t, testing.AllocsPerRun(100, func() { buf = exchange.AppendString(buf[:0], text) }))
}

func FuzzAppendStringWritesWhatEncodingJSONWrites(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "\x00\x01\b\f\n\r\t\x1f \x7f", `"\/<>&`, "ż\u2028\u2029\U0001F600", "\xff\xfe", "a\xc3", "\xed\xa0\x80", "\ufffd",
	} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, text string) {
		var want bytes.Buffer

		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		require.NoError(t, encoder.Encode(text))

		got := exchange.AppendString(nil, text)
		require.Equal(t, strings.TrimSuffix(want.String(), "\n"), string(got))
	})
}
