package api

import (
	"bytes"
	"crypto/rand"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
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
	files map[string]*publicFile // by path, such as /favicon.svg
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

	p := &page{index: index, files: map[string]*publicFile{}}

	brotli := map[string]string{} // by the path of the uncompressed file

	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch plain, compressed := strings.CutSuffix(name, brotliSuffix); {
		case err != nil || entry.IsDir() || strings.HasPrefix(path.Base(name), "."):
		case compressed:
			brotli["/"+plain] = name
		case name != indexFile:
			p.files["/"+name] = newPublicFile(files, name)
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

	isolate(w.Header(), "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-"+nonce+"'; img-src 'self' data:; "+
		"font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; manifest-src 'self'")
	w.Header().Set("Vary", "Accept, Accept-Encoding")

	// Safe to compress: the page contains nothing of the request that would let the length reveal the nonce.
	writeHTML(w, r, http.StatusOK, bytes.ReplaceAll(p.index, []byte(nonceMark), []byte(nonce)))
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
