package api

import (
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

const (
	htmlType    = "text/html; charset=utf-8"
	unknownType = "application/octet-stream"
)

// publicFile is a file of the dashboard or a part of the manual, which everyone can read.
type publicFile struct {
	mediaType string
	cache     string
	policy    string // of a page; other files have the one of the API
	etag      string // for files that clients check for a change
	plain     func() []byte
	gzipped   func() []byte // nil for formats that are already compressed
	brotli    func() []byte // nil where the build wrote none
}

// newPublicFile returns a file of the dashboard. It is read and compressed once.
func newPublicFile(files fs.FS, name string) *publicFile {
	mediaType, isText := mediaTypeOf(name)
	file := &publicFile{mediaType: mediaType, cache: "public, max-age=3600"}

	// Names below assets change with their content.
	if strings.HasPrefix("/"+name, assetsDir) {
		file.cache = "public, max-age=31536000, immutable"
	}

	file.plain = reader(files, name)

	if isText {
		file.gzipped = sync.OnceValue(func() []byte { return compress(file.plain()) })
	}

	return file
}

// reader returns a function that reads a file once.
func reader(files fs.FS, name string) func() []byte {
	return sync.OnceValue(func() []byte { return readFile(files, name) })
}

// readFile reads an embedded file.
func readFile(files fs.FS, name string) []byte {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		panic("api: " + err.Error())
	}

	return text
}

func (f *publicFile) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.mediaType)
	header.Set("Cache-Control", f.cache)
	header.Set("Cross-Origin-Resource-Policy", "same-origin")

	if f.policy != "" {
		isolate(header, f.policy)
	}

	if f.gzipped != nil {
		header.Set("Vary", "Accept-Encoding")
	}

	if f.etag != "" {
		header.Set("ETag", f.etag)

		if matches(r.Header.Values("If-None-Match"), f.etag) {
			w.WriteHeader(http.StatusNotModified)

			return
		}
	}

	if f.gzipped == nil {
		write(w, f.plain())

		return
	}

	accepted := r.Header.Values("Accept-Encoding")

	switch {
	case f.brotli != nil && accepts(accepted, "br"):
		header.Set("Content-Encoding", "br")
		write(w, f.brotli())
	case accepts(accepted, "gzip"):
		header.Set("Content-Encoding", "gzip")
		write(w, f.gzipped())
	default:
		write(w, f.plain())
	}
}

// matches reports whether one of the headers' entity tags is the given one, which is weak.
func matches(headers []string, etag string) bool {
	for item := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		if item = strings.TrimSpace(item); item == "*" || "W/"+strings.TrimPrefix(item, "W/") == etag {
			return true
		}
	}

	return false
}

// isolate sets the headers of an HTML page: what it may load, and that pages of other servers learn and get nothing.
func isolate(header http.Header, policy string) {
	header.Set("Content-Security-Policy", policy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Robots-Tag", "noindex, nofollow") // a shared session is found by its link only
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
}

// writeHTML sends a page that was made for this request.
func writeHTML(w http.ResponseWriter, r *http.Request, status int, text []byte) {
	w.Header().Set("Content-Type", htmlType)

	if accepts(r.Header.Values("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")

		text = compress(text)
	}

	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) //nolint:gosec // templates escape what they are given; the browser may have gone away
}

// write sends a complete response. It ignores errors: the browser may have gone away.
func write(w http.ResponseWriter, text []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text)
}

// mediaTypeOf returns the media type of a file, and whether it is text worth compressing. The system's own table differs between
// machines.
func mediaTypeOf(name string) (mediaType string, isText bool) {
	switch path.Ext(name) {
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8", true
	case ".css":
		return "text/css; charset=utf-8", true
	case ".html":
		return htmlType, true
	case ".svg":
		return "image/svg+xml", true
	case ".json", ".map":
		return "application/json", true
	case ".webmanifest":
		return "application/manifest+json", true
	case ".txt":
		return "text/plain; charset=utf-8", true
	case ".png":
		return "image/png", false
	case ".ico":
		return "image/x-icon", false
	case ".woff2":
		return "font/woff2", false
	default:
		return unknownType, false
	}
}
