package api

import (
	"context"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/limit"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/problem"
)

// route is an operation with the checks that run before its handler.
type route struct {
	operation

	// probe means that the route is answered without identifying the caller.
	probe   bool
	hasBody bool
	// query are the names of its parameters, and repeatable those that can be repeated.
	query, repeatable []string
}

func newRoute(o operation, op *huma.Operation) route {
	found := route{operation: o, probe: o.scope == "" && !isAPI(o.path), hasBody: op.RequestBody != nil}

	switch {
	case o.bodyLimit != 0:
	case o.scope == "":
		found.bodyLimit = anonymousLimit
	default:
		found.bodyLimit = tarsy.MaxAlertBytes
	}

	for _, parameter := range op.Parameters {
		if parameter.In == "query" {
			found.query = append(found.query, parameter.Name)

			if parameter.Schema.Type == huma.TypeArray {
				parameter.Schema.Nullable = false
				found.repeatable = append(found.repeatable, parameter.Name)
			}
		}
	}

	return found
}

// serve handles a request: it finds the route, identifies the caller, checks permissions, reads the body and responds.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")

	found, missing := s.find(r)
	noteRoute(r.Context(), found.path, found.stream)

	if missing == nil && found.probe {
		s.mux.ServeHTTP(w, r)

		return
	}

	if missing != nil && s.servePublic(w, r) {
		return
	}

	who, err := s.guard.identify(r, missing == nil && found.scope == "")
	defer s.logRefusal(w, r, who)
	defer s.bodies.release(who)

	w, record := s.audit.audited(w, r, found, who)
	defer record.finish()

	if missing == nil && found.webhook && who.key == nil {
		err = s.alerts.admitSender(w, r, who, found.bodyLimit, err)
	}

	if err != nil {
		who.refused = tarsy.CodeOf(err)
		s.refuse(w, r, err)

		return
	}

	if who.known() || who.isSender {
		limit.Prove(r.Context())
	}

	// Unauthenticated callers must not learn which addresses exist.
	if missing != nil {
		s.refuse(w, r, missing)

		return
	}

	err = s.prepare(w, r, who, found)
	if err != nil {
		who.refused = tarsy.CodeOf(err)
		s.refuse(w, r, err)

		return
	}

	ctx := s.audit.decide(context.WithValue(r.Context(), callerKey{}, who), who)

	if found.scope != "" {
		limit.Work(ctx)
	}

	if found.stream {
		limit.Stream(ctx)
	}

	// A user named by a proxy has no login here that could end: the proxy ends the connection.
	if found.stream && s.guard.required && who.hasLogin() {
		watched, done := s.logins.add(who)
		defer done()

		ctx = context.WithValue(ctx, loginEndedKey{}, watched.ended)
	}

	s.answer(w, r.WithContext(ctx), found)
	record.answered()
}

// servePublic answers requests for the manual and the dashboard's files, which everybody may read, and reports whether it was one.
func (s *Server) servePublic(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case s.manual.serve(w, r):
		noteRoute(r.Context(), manualRoute, false)
	case s.page.serve(w, r):
		noteRoute(r.Context(), pageRoute, false)
	default:
		return false
	}

	return true
}

// checkQuery rejects parameters that the route does not have.
func (found route) checkQuery(r *http.Request) error {
	if found.foreign {
		return nil
	}

	return checkQuery(r, found.query, found.repeatable)
}

// prepare checks that the caller can make the request and see its resource, and reads the body.
func (s *Server) prepare(w http.ResponseWriter, r *http.Request, who *caller, found route) (err error) {
	if found.scope != "" {
		err = s.guard.permit(r, who, found.scope)
	}

	who.visible = s.guard.visibility(who)

	if err == nil {
		err = s.teams.checkVisible(r.Context(), who, found, r.URL.Path)
	}

	if err == nil {
		err = found.checkQuery(r)
	}

	if err == nil && found.hasBody && who.body == nil {
		err = s.bodies.read(w, r, who, found.bodyLimit, found.scope != "")
	}

	return err
}

// find returns the route of a request, or an error if there is none.
func (s *Server) find(r *http.Request) (route, error) {
	// The mux would redirect an unclean path, with an HTML response.
	if r.URL.Path != path.Clean(r.URL.Path) {
		return route{}, s.noRoute(r)
	}

	handler, pattern := s.mux.Handler(r)

	// A pattern that is in the mux but not in the table is closed, not open.
	if found, ok := s.routes[pattern]; ok {
		return found, nil
	}

	// The mux knows the allowed methods, but reports them only in a response.
	answer := &discarded{header: http.Header{}}
	handler.ServeHTTP(answer, r)

	allow := answer.header.Get("Allow")
	if allow == "" {
		return route{}, s.noRoute(r)
	}

	p := problem.New(tarsy.Errorf(tarsy.CodeMethodNotAllowed, "%s is not allowed here; allowed: %s", shown(r.Method), allow))
	p.Allow = allow

	return route{}, p
}

func (s *Server) noRoute(r *http.Request) error {
	hint := "/openapi.json lists what there is"
	if s.page != nil && !isAPI(r.URL.Path) {
		hint += ", and a browser finds the dashboard at /"
	}

	return tarsy.Errorf(tarsy.CodeNotFound, "there is nothing at %s; %s", shown(r.URL.Path), hint)
}

// isAPI reports whether a path belongs to the API, even if nothing is there: the page must not answer it.
func isAPI(address string) bool {
	address = path.Clean("/" + address)

	return address == "/api" || strings.HasPrefix(address, "/api/")
}

// discarded is a response writer that keeps only the headers.
type discarded struct{ header http.Header }

func (d *discarded) Header() http.Header            { return d.header }
func (d *discarded) Write(text []byte) (int, error) { return len(text), nil }
func (d *discarded) WriteHeader(int)                {}

// shown cleans text of a request for a message and shortens it to a line.
func shown(text string) string {
	const longest = 100

	runes := []rune(plaintext.Clean(text))
	if len(runes) > longest {
		return string(runes[:longest]) + "…"
	}

	return string(runes)
}

// listed returns the names sorted and separated by commas.
func listed(names []string) string { return strings.Join(slices.Sorted(slices.Values(names)), ", ") }
