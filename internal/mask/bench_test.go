package mask

import (
	"strings"
	"testing"

	"tarsy.dev/tarsy/internal/kit/corpus"
)

// BenchmarkMasking measures texts without secrets, with one on every fifth line, and with only secrets.
func BenchmarkMasking(b *testing.B) {
	var secrets strings.Builder
	for _, sample := range corpus.Samples(1) {
		secrets.WriteString(sample.Text + "\n")
	}

	for name, text := range map[string]string{
		"ordinary": strings.Join(corpus.Ordinary(1, 10000), "\n"),
		"requests": strings.Repeat("2026-11-15T05:10:11.123Z INFO  payments-7d9f8b6c5-x2x1 http: request completed method=GET path=/api/v1/orders/1 status=200 bytes=7 duration=12ms user_agent=\"Mozilla/5.0\"\n", 5000),
		"env dump": strings.Repeat("HOSTNAME=payments-1\nPATH=/usr/local/bin:/usr/bin:/bin\nDB_PASSWORD=Xk29fLq8Zt71\nLOG_LEVEL=debug\nKUBERNETES_PORT=tcp://10.96.0.1:443\n", 2000),
		"secrets":  secrets.String(),
	} {
		b.Run(name, func(b *testing.B) {
			m := newMasker(b, Config{Alerts: DefaultRules()})
			written(m, text) // compiles what is needed
			b.SetBytes(int64(len(text)))

			for b.Loop() {
				written(m, text)
			}
		})
	}
}
