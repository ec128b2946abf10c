//go:build bench

package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/mask"
)

// TestMasking adds the masker's rows to the table: the product's rules, one goroutine, warmed up.
func TestMasking(t *testing.T) {
	start := time.Now()
	m, err := mask.New(mask.Config{Default: mask.DefaultRules()})
	require.NoError(t, err)

	made := time.Since(start)
	_, err = m.Result("any", "warm up")
	require.NoError(t, err)

	first := time.Since(start) - made

	for _, r := range []row{
		{"masking ordinary log text, MB/s", fmt.Sprintf("%.0f", speed(t, m, logText(4<<20))), "nothing to hide: one pass finds no word that leads anywhere"},
		{"masking env dumps with a secret in every fifth line, MB/s", fmt.Sprintf("%.1f", speed(t, m, dump(1<<20))), ""},
		{"masking hostile text, MB/s", fmt.Sprintf("%.1f", speed(t, m, strings.Repeat("password=token=secret=", 1<<14))), "the slowest text known; linear"},
		{"making a masker, µs; its first text, ms", fmt.Sprintf("%d; %.1f", made.Microseconds(), float64(first.Microseconds())/1000), ""},
	} {
		fmt.Printf("%-62s %10s   %s\n", r.what, r.got, r.note)
	}
}

// speed masks a text repeatedly for about a second.
func speed(t *testing.T, m *mask.Masker, text string) float64 {
	t.Helper()

	start, n := time.Now(), 0
	for ; n == 0 || time.Since(start) < time.Second; n++ {
		_, err := m.Result("any", text)
		require.NoError(t, err)
	}

	return float64(n*len(text)) / 1e6 / time.Since(start).Seconds()
}

func logText(size int) string {
	var b strings.Builder

	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "2026-11-15T05:%02d:%02d.123Z INFO  payments-7d9f8b6c5-x2x%d http: request completed method=GET path=/api/v1/orders/%d status=200 bytes=%d duration=12ms user_agent=\"Mozilla/5.0\"\n", i%60, i%60, i%10, i, i*7)

		if i%10 == 0 {
			fmt.Fprintf(&b, "{\"level\":\"warn\",\"caller\":\"cache/store.go:%d\",\"msg\":\"cache miss\",\"key\":\"orders:%d\",\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e4736\"}\n", i, i)
			b.WriteString("\tat com.example.orders.TokenService.refresh(TokenService.java:120)\n\tat org.springframework.security.web.FilterChainProxy.doFilter(FilterChainProxy.java:374)\n")
		}
	}

	return b.String()
}

func dump(size int) string {
	var b strings.Builder

	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "HOSTNAME=payments-%d\nPATH=/usr/local/bin:/usr/bin:/bin\nDB_PASSWORD=Xk29fLq8Zt71%d\nLOG_LEVEL=debug\nKUBERNETES_PORT=tcp://10.96.0.1:443\n", i, i)
	}

	return b.String()
}
