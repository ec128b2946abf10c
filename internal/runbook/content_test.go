package runbook_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/runbook"
)

func TestTextIsValidUTF8WithoutNUL(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	n.handle("docs.example.org", answer("text/plain", "\uFEFF# A\x00B\xff\r\n"))

	text, err := n.fetcher(t, nil).Fetch(t.Context(), page)

	require.NoError(t, err)
	require.Equal(t, "# AB\uFFFD\r\n", text)
}

func TestTextResponsesAreAccepted(t *testing.T) {
	t.Parallel()

	for url, types := range map[string][]string{
		"https://docs.example.org/a": {
			"text/plain", "Text/Markdown; charset=utf-8", "text/x-yaml", "application/yaml", "application/x-yaml", "application/json",
			"application/vnd.github.raw+json; charset=utf-8", "text/plain; charset",
		},
		"https://raw.githubusercontent.com/o/r/main/a": {"application/octet-stream", "text/plain", ""},
		"https://raw.example.org/a":                    {"application/octet-stream"},
	} {
		for _, contentType := range types {
			t.Run(url+" "+contentType, func(t *testing.T) {
				t.Parallel()
				n := newInternet(t)
				for _, host := range hostsOfTests {
					n.handle(host, answer(contentType, "restart it"))
				}

				text, err := n.fetcher(t, nil).Fetch(t.Context(), url)

				require.NoError(t, err)
				require.Equal(t, "restart it", text)
			})
		}
	}
}

func TestNonTextResponsesAreRefused(t *testing.T) {
	t.Parallel()
	const docs, raw = "https://docs.example.org/a", "https://raw.githubusercontent.com/o/r/main/a"

	for name, c := range map[string]struct{ url, contentType, body, says string }{
		"a web page":             {docs, "text/html; charset=utf-8", "<p>", "it is a web page: use the address of the raw file"},
		"a web page on raw":      {raw, "TEXT/HTML", "<p>", "it is a web page: use the address of the raw file"},
		"a strict web page":      {docs, "application/xhtml+xml", "<p/>", "it is a web page: use the address of the raw file"},
		"a picture":              {docs, "image/png", "x", `it is not text but "image/png"`},
		"an archive":             {raw, "application/gzip", "x", `it is not text but "application/gzip"`},
		"an endless type":        {docs, strings.Repeat("a", 5000) + "/x", "x", "it is not text but"},
		"bytes":                  {docs, "application/octet-stream", "x", `it is not text but "application/octet-stream"`},
		"no type":                {docs, "", "x", "it does not declare a text content type"},
		"no valid type":          {docs, "text/", "x", "it does not declare a text content type"},
		"bytes with NUL on raw":  {raw, "application/octet-stream", "a\x00b", "it is not text"},
		"bytes not UTF-8 on raw": {raw, "application/octet-stream", "\x1f\x8b\x08", "it is not text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newInternet(t)
			for _, host := range hostsOfTests {
				n.handle(host, answer(c.contentType, c.body))
			}

			_, err := n.fetcher(t, nil).Fetch(t.Context(), c.url)

			requireFailure(t, err, tarsy.CodeUnsupportedMedia, c.says)
		})
	}
}

func TestEmptyResponseIsError(t *testing.T) {
	t.Parallel()

	for _, body := range []string{"", " \n", "\uFEFF", "\x00"} {
		n := newInternet(t)
		n.handle("docs.example.org", answer("text/plain", body))

		_, err := n.fetcher(t, nil).Fetch(t.Context(), page)

		requireFailure(t, err, tarsy.CodeUnavailable, "it is empty")
	}
}

func TestRunbookAtExactLimitIsAccepted(t *testing.T) {
	t.Parallel()

	for name, write := range map[string]func(http.ResponseWriter, string){
		"announced": func(w http.ResponseWriter, body string) {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			fmt.Fprint(w, body)
		},
		"in chunks": func(w http.ResponseWriter, body string) {
			_ = http.NewResponseController(w).Flush()
			fmt.Fprint(w, body)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newInternet(t)
			n.handle("docs.example.org", func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				write(w, strings.Repeat("a", 256<<10)+strings.TrimPrefix(r.URL.Path, "/"))
			})
			f := n.fetcher(t, nil)

			text, err := f.Fetch(t.Context(), "https://docs.example.org/")
			require.NoError(t, err)
			require.Len(t, text, 256<<10)

			_, err = f.Fetch(t.Context(), "https://docs.example.org/b")
			requireFailure(t, err, tarsy.CodeTooLarge, "it is larger than 262144 bytes")
		})
	}
}

func TestDeclaredSizeOverLimitIsRefusedEarly(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	n.handle("docs.example.org", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", "1001")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done() // sends nothing: reading the body would block here
	})
	f := n.fetcher(t, func(cfg *runbook.Config) { cfg.MaxBytes = 1000 })

	_, err := f.Fetch(t.Context(), page)

	requireFailure(t, err, tarsy.CodeTooLarge, "it is larger than 1000 bytes")
}

func TestEndlessBodyIsCutOff(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	ended := make(chan struct{})
	n.handle("docs.example.org", func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		w.Header().Set("Content-Type", "text/plain")
		for {
			if _, err := io.WriteString(w, strings.Repeat("again ", 1000)); err != nil {
				return
			}
		}
	})

	_, err := n.fetcher(t, nil).Fetch(t.Context(), page)

	requireFailure(t, err, tarsy.CodeTooLarge, "it is larger than")
	<-ended
}

func TestCompressedResponseIsNeverDecompressed(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	zip := gzip.NewWriter(&bomb)
	_, err := zip.Write(make([]byte, 4<<20))
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	require.Less(t, bomb.Len(), 256<<10)

	for _, encoding := range []string{"gzip", "GZIP", "deflate", "br", "identity, gzip"} {
		n := newInternet(t)
		n.handle("docs.example.org", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", encoding)
			answer("text/plain", bomb.String())(w, r)
		})

		_, err := n.fetcher(t, nil).Fetch(t.Context(), page)

		requireFailure(t, err, tarsy.CodeUnsupportedMedia, "it is compressed")
	}
}

func TestNonHTTPResponseErrorHidesItsText(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ raw, says string }{
		"another protocol":    {"SSH-2.0-secret\r\n", "it did not send a valid HTTP response"},
		"nothing":             {"", "it did not send a valid HTTP response"},
		"many headers":        {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" + strings.Repeat("X: secret\r\n", 20000) + "\r\nsecret", "it did not send a valid HTTP response"},
		"unknown coding":      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nsecret", "it did not send a valid HTTP response"},
		"its own words":       {"HTTP/1.1 404 secret\r\n\r\n", "it answered 404 Not Found"},
		"less than announced": {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nsecret", "the connection broke off"},
		"a broken chunk":      {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nsecret", "the connection broke off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newInternet(t)
			n.handle("docs.example.org", func(w http.ResponseWriter, _ *http.Request) { say(t, w, c.raw) })

			_, err := n.fetcher(t, nil).Fetch(t.Context(), page)

			requireFailure(t, err, tarsy.CodeUnavailable, c.says)
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

// say responds with arbitrary bytes and closes the connection.
func say(t *testing.T, w http.ResponseWriter, raw string) {
	t.Helper()
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)

		return
	}
	_, _ = io.WriteString(conn, raw)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite() // what was sent must arrive before the end of the stream
		_, _ = io.Copy(io.Discard, tcp)
	}
	_ = conn.Close()
}
