package api

import (
	"bytes"
	"crypto/rand"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

const (
	indexFile = "index.html"
	// nonceMark is the placeholder for the nonce in the page.
	nonceMark = "__CSP_NONCE__"
	assetsDir = "/assets/"
	// brotliSuffix ends the names of compressed copies of files. The build of the page writes them: they are a sixth smaller than
	// gzip's, and Go's library cannot write Brotli.
	brotliSuffix = ".br"
)

// page serves the dashboard: its files, and the page itself at every address outside the API, since the page has client-side routes. It
// needs no key: it contains nothing that is not in the repository, and it is what asks for the key. For the same reason the Host of the
// request does not matter; it does for the page's API requests.
type page struct {
	index []byte
	files map[string]*pageFile // by path, such as /favicon.svg
}

// newPage lists the files. Their text is read on first use.
func newPage(files fs.FS) *page {
	if files == nil {
		return nil
	}

	index, err := fs.ReadFile(files, indexFile)
	if err != nil {
		panic("api: the dashboard has no page: " + err.Error())
	}

	p := &page{index: index, files: map[string]*pageFile{}}

	brotli := map[string]string{} // by the path of the uncompressed file

	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch plain, compressed := strings.CutSuffix(name, brotliSuffix); {
		case err != nil || entry.IsDir() || strings.HasPrefix(path.Base(name), "."):
		case compressed:
			brotli["/"+plain] = name
		case name != indexFile:
			p.files["/"+name] = newPageFile(files, name)
		}

		return err
	})
	if err != nil {
		panic("api: the dashboard's files cannot be listed: " + err.Error())
	}

	for address, name := range brotli {
		if file, ok := p.files[address]; ok {
			file.brotli = reader(files, name)
		}
	}

	return p
}

// serve answers a request for the page, and reports whether it was one.
func (p *page) serve(w http.ResponseWriter, r *http.Request) bool {
	if p == nil || isAPI(r.URL.Path) || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}

	if file, ok := p.files[r.URL.Path]; ok {
		file.serve(w, r)

		return true
	}

	accept := r.Header.Values("Accept")
	atRoot := r.URL.Path == "/" && wantsPage(accept)

	// A missing script or style sheet must not be answered with the page.
	if strings.HasPrefix(r.URL.Path, assetsDir) || !atRoot && !accepts(accept, "text/html") {
		return false
	}

	p.serveIndex(w, r)

	return true
}

func (p *page) serveIndex(w http.ResponseWriter, r *http.Request) {
	nonce := rand.Text()

	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-"+nonce+"'; img-src 'self' data:; "+
		"font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; manifest-src 'self'")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Robots-Tag", "noindex, nofollow") // a shared session is found by its link only
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
	header.Set("Vary", "Accept, Accept-Encoding")

	text := bytes.ReplaceAll(p.index, []byte(nonceMark), []byte(nonce))

	// Safe to compress: the page contains nothing of the request that would let the length reveal the nonce.
	if accepts(r.Header.Values("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")

		text = compress(text)
	}

	write(w, text)
}

// pageFile is a file of the page. It is read and compressed once.
type pageFile struct {
	mediaType string
	cache     string
	plain     func() []byte
	gzipped   func() []byte // nil for formats that are already compressed
	brotli    func() []byte // nil where the build wrote none
}

func newPageFile(files fs.FS, name string) *pageFile {
	mediaType, isText := mediaTypeOf(name)
	file := &pageFile{mediaType: mediaType, cache: "public, max-age=3600"}

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
	return sync.OnceValue(func() []byte {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			panic("api: " + err.Error())
		}

		return text
	})
}

func (f *pageFile) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.mediaType)
	header.Set("Cache-Control", f.cache)
	header.Set("Cross-Origin-Resource-Policy", "same-origin")

	if f.gzipped == nil {
		write(w, f.plain())

		return
	}

	header.Set("Vary", "Accept-Encoding")

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

// write sends a complete response. It ignores errors: the browser may have gone away.
func write(w http.ResponseWriter, text []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text)
}

// accepts reports whether one of the headers' values is wanted, and not with q=0. Wildcards do not count: programs that know nothing of
// pages send them.
func accepts(headers []string, wanted string) bool {
	for item := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		value, parameters, _ := strings.Cut(item, ";")
		if strings.EqualFold(strings.TrimSpace(value), wanted) {
			return !unwanted(parameters)
		}
	}

	return false
}

// wantsPage reports whether a client that sent these Accept headers gets the page at the root: every client that does not ask for JSON
// or refuse HTML. Tools such as curl accept anything, and people use them to check whether the server is up.
func wantsPage(headers []string) bool {
	if accepts(headers, "text/html") {
		return true
	}

	for item := range strings.SplitSeq(strings.ToLower(strings.Join(headers, ",")), ",") {
		value, _, _ := strings.Cut(strings.TrimSpace(item), ";")
		if value = strings.TrimSpace(value); value == "text/html" || strings.HasSuffix(value, "json") {
			return false
		}
	}

	return true
}

// unwanted reports whether the parameters contain q=0.
func unwanted(parameters string) bool {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if strings.EqualFold(name, "q") {
			weight, err := strconv.ParseFloat(value, 64)

			return err == nil && weight == 0
		}
	}

	return false
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
		return "text/html; charset=utf-8", true
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
		return "application/octet-stream", false
	}
}
