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
	// nonceMark stands in the page where the nonce goes.
	nonceMark = "__CSP_NONCE__"
	assetsDir = "/assets/"
	// brotliSuffix ends the names of files that hold another one compressed. The build of the page writes them: they are a
	// sixth shorter than gzip's, and Go's library does not write Brotli.
	brotliSuffix = ".br"
)

// page serves the dashboard: its files, and the page itself at every address that is not the API's, for the page has
// addresses of its own. It is for everybody: there is nothing in it that the repository does not show, and somebody must
// ask for the key. For the same reason it does not matter under which name of the server it was asked for; what the page
// then asks of the API does.
type page struct {
	index []byte
	files map[string]*pageFile // by path, such as /favicon.svg
}

// newPage reads which files there are. Their text is read when somebody wants it.
func newPage(files fs.FS) *page {
	if files == nil {
		return nil
	}

	index, err := fs.ReadFile(files, indexFile)
	if err != nil {
		panic("api: the dashboard has no page: " + err.Error())
	}

	p := &page{index: index, files: map[string]*pageFile{}}

	brotli := map[string]string{} // by the path of what is compressed

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

// serve answers a request that is for the page, and reports whether it was.
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

	// A script or a style that is not there must not turn out to be a page.
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

	// There is nothing of the request in it that could be used to guess the nonce by the length of the answer.
	if accepts(r.Header.Values("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")

		text = compress(text)
	}

	write(w, text)
}

// pageFile is one file of the page. It is read and compressed once.
type pageFile struct {
	mediaType string
	cache     string
	plain     func() []byte
	gzipped   func() []byte // nil for what is compressed already
	brotli    func() []byte // nil where the build wrote none
}

func newPageFile(files fs.FS, name string) *pageFile {
	mediaType, isText := mediaTypeOf(name)
	file := &pageFile{mediaType: mediaType, cache: "public, max-age=3600"}

	// Names below assets change with what is in them.
	if strings.HasPrefix("/"+name, assetsDir) {
		file.cache = "public, max-age=31536000, immutable"
	}

	file.plain = reader(files, name)

	if isText {
		file.gzipped = sync.OnceValue(func() []byte { return compress(file.plain()) })
	}

	return file
}

// reader reads a file once.
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

// write sends a whole answer. That a browser went away meanwhile is nobody's business.
func write(w http.ResponseWriter, text []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text)
}

// accepts reports whether one of a header's values is this one, and is wanted. What stands for anything is not meant: it is
// what programs send that know nothing of pages.
func accepts(headers []string, wanted string) bool {
	for item := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		value, parameters, _ := strings.Cut(item, ";")
		if strings.EqualFold(strings.TrimSpace(value), wanted) {
			return !unwanted(parameters)
		}
	}

	return false
}

// wantsPage reports whether a client that sent these Accept headers gets the page at the root: every client that does not
// ask for JSON or refuse HTML. Tools such as curl accept anything, and people use them to see whether the server is there.
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

// unwanted reports whether the parameters say q=0.
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

// mediaTypeOf names the type of a file, and whether it is text that compressing makes shorter. The system's own table
// differs from machine to machine.
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
