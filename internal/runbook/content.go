package runbook

import (
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
)

// read returns the body of a response if it is text and small enough.
func (f *Fetcher) read(resp *http.Response, at *url.URL) (string, error) {
	kind, err := f.kind(resp, at)
	if err != nil {
		return "", err
	}
	if resp.ContentLength > f.cfg.MaxBytes {
		return "", f.tooLarge(at)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, f.cfg.MaxBytes+1))
	if int64(len(body)) > f.cfg.MaxBytes {
		return "", f.tooLarge(at)
	}
	if err != nil {
		return "", failure(tarsy.CodeUnavailable, at, err, "the connection broke off")
	}

	text := string(body)
	if kind == opaque && (!utf8.ValidString(text) || strings.Contains(text, "\x00")) {
		return "", failure(tarsy.CodeUnsupportedMedia, at, nil, "it is not text")
	}
	text = strings.TrimPrefix(plaintext.Clean(text), "\uFEFF")
	if strings.TrimSpace(text) == "" {
		return "", failure(tarsy.CodeUnavailable, at, nil, "it is empty")
	}

	return text, nil
}

func (f *Fetcher) tooLarge(at *url.URL) error {
	return failure(tarsy.CodeTooLarge, at, nil, "it is larger than %d bytes", f.cfg.MaxBytes)
}

// kind is the declared type of a response.
type kind int

const (
	opaque kind = iota // not declared; the bytes must be valid text
	readable
)

func (f *Fetcher) kind(resp *http.Response, at *url.URL) (kind, error) {
	// Nothing is ever decompressed, so that a small response cannot become a large one.
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return opaque, failure(tarsy.CodeUnsupportedMedia, at, nil, "it is compressed, which was not requested")
	}

	// An invalid parameter leaves the media type usable; anything worse leaves it empty.
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))

	switch {
	case media == "text/html" || media == "application/xhtml+xml":
		return opaque, failure(tarsy.CodeUnsupportedMedia, at, nil, "it is a web page: use the address of the raw file")
	case isText(media):
		return readable, nil
	case f.cfg.AnyType, (media == "" || media == "application/octet-stream") && isRawHost(at.Hostname()):
		return opaque, nil
	case media == "":
		return opaque, failure(tarsy.CodeUnsupportedMedia, at, nil, "it does not declare a text content type")
	default:
		return opaque, failure(tarsy.CodeUnsupportedMedia, at, nil, "it is not text but %.64q", media)
	}
}

func isText(media string) bool {
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+yaml") ||
		slices.Contains([]string{
			"application/json", "application/yaml", "application/x-yaml", "application/markdown", "application/x-markdown",
		}, media)
}

// isRawHost reports whether a host serves raw files, whose types it does not know.
func isRawHost(host string) bool {
	return host == githubRawHost || strings.HasPrefix(host, "raw.")
}
