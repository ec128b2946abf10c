package api

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"tarsy.dev/tarsy/internal/manual"
)

const (
	// manualRoute is the name of the route of the documents, which have no patterns.
	manualRoute = "manual"
	// manualPolicy allows pictures, styles and the search of this server, and no scripts.
	manualPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	// manualCache makes browsers check for another version, which comes with an upgrade of the server.
	manualCache = "no-cache"
)

// manualPages serves the documents, to everyone: they contain nothing that is not in the repository.
type manualPages struct {
	content func() manualContent // rendered at the first request, so that a start costs nothing
}

// manualContent is what is in memory after the first request. Pages are only there compressed: clients that do not accept gzip are rare.
type manualContent struct {
	files   map[string]*publicFile // by path, such as /docs/install
	search  *manual.Search
	missing []byte
}

func newManualPages(files fs.FS) *manualPages {
	if files == nil {
		return nil
	}

	return &manualPages{content: sync.OnceValue(func() manualContent { return renderManual(files) })}
}

// serve answers a request for the manual, and reports whether it was one.
func (m *manualPages) serve(w http.ResponseWriter, r *http.Request) bool {
	address := r.URL.Path
	if m == nil || address != manual.Root && !strings.HasPrefix(address, manual.Root+"/") || isAPI(address) ||
		r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}

	content := m.content()
	address = manual.Root + strings.TrimSuffix(strings.TrimPrefix(address, manual.Root), "/")

	// Links between Markdown files, such as in a checkout.
	if page, isMarkdown := strings.CutSuffix(address, ".md"); isMarkdown {
		if page = strings.TrimSuffix(page, "/README"); content.files[page] != nil {
			http.Redirect(w, r, page, http.StatusMovedPermanently) //nolint:gosec // it is the path of one of our pages

			return true
		}
	}

	query := r.URL.Query().Get("q")

	switch file := content.files[address]; {
	case address == manual.Root && strings.TrimSpace(query) != "":
		content.find(w, r, query)
	case file != nil:
		file.serve(w, r)
	default:
		content.write(w, r, http.StatusNotFound, content.missing)
	}

	return true
}

func (c manualContent) find(w http.ResponseWriter, r *http.Request, query string) {
	results, err := c.search.Page(query)
	if err != nil {
		panic("api: " + err.Error()) // the template is part of the program
	}

	c.write(w, r, http.StatusOK, results)
}

// write sends a page that is not a document.
func (manualContent) write(w http.ResponseWriter, r *http.Request, status int, page []byte) {
	isolate(w.Header(), manualPolicy)
	w.Header().Set("Vary", "Accept-Encoding")
	writeHTML(w, r, status, page)
}

func renderManual(files fs.FS) manualContent {
	rendered, err := manual.Render(files)
	if err != nil {
		panic("api: " + err.Error()) // the documents are part of the program
	}

	content := manualContent{files: map[string]*publicFile{}, search: rendered.Search, missing: rendered.Missing}

	for name, page := range rendered.Pages {
		content.files[strings.TrimSuffix(manual.Root+"/"+name, "/")] = newManualText(htmlType, page)
	}

	styleType, _ := mediaTypeOf(manual.StyleFile)
	content.files[manual.Root+"/"+manual.StyleFile] = newManualText(styleType, manual.Style)

	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}

		return content.add(files, name)
	})
	if err != nil {
		panic("api: the documents cannot be read: " + err.Error())
	}

	return content
}

// add adds a file other than a page.
func (c manualContent) add(files fs.FS, name string) error {
	mediaType, isText := mediaTypeOf(name)
	if mediaType == unknownType {
		return nil // Markdown
	}

	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}

	file := newManualText(mediaType, text)
	if !isText {
		file.gzipped, file.plain = nil, func() []byte { return readFile(files, name) }
	}

	c.files[manual.Root+"/"+name] = file

	return nil
}

// newManualText returns a file that keeps its text compressed.
func newManualText(mediaType string, text []byte) *publicFile {
	sum, zipped := sha256.Sum256(text), compress(text)

	return &publicFile{
		mediaType: mediaType, cache: manualCache, policy: manualPolicy, etag: `W/"` + hex.EncodeToString(sum[:12]) + `"`,
		plain: func() []byte { return decompress(zipped) }, gzipped: func() []byte { return zipped },
	}
}
