package virtual

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/problem"
	"tarsy.dev/tarsy/internal/schema"
)

// maxStep is the maximum size of a step.
const maxStep = 1 << 20

// Control is the interface through which people, and tests in other languages, inspect and control a server.
type Control struct {
	// Path is the path of the state; everything else is below it.
	Path   string
	Logger *slog.Logger
	State  func() any
	// Lists are the lists that can be read below the path.
	Lists []List
	// Step runs the step in a request, see ReadStep.
	Step func(r *http.Request) (any, error)
}

// List is a named list that can be read.
type List struct {
	Name string
	Read func(r *http.Request) any
}

// Register adds the operations to a mux.
func (c Control) Register(mux *http.ServeMux) {
	available := []string{"GET (the state)"}
	c.handle(mux, "GET "+c.Path, func(*http.Request) (any, error) { return c.State(), nil })

	for _, list := range c.Lists {
		available = append(available, "GET "+list.Name)
		c.handle(mux, "GET "+c.Path+"/"+list.Name, func(r *http.Request) (any, error) { return list.Read(r), nil })
	}

	c.handle(mux, "POST "+c.Path+"/steps", c.Step)

	mux.HandleFunc(c.Path+"/", func(w http.ResponseWriter, r *http.Request) {
		problem.Write(w, r, c.Logger, tarsy.Errorf(tarsy.CodeNotFound,
			"There is no %s %s. Available below %s: %s, POST steps.", r.Method, r.URL.Path, c.Path, strings.Join(available, ", ")))
	})
}

func (c Control) handle(mux *http.ServeMux, pattern string, handle func(r *http.Request) (any, error)) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		err := RefuseWebPages(r)

		var result any
		if err == nil {
			result, err = handle(r)
		}

		if err != nil {
			problem.Write(w, r, c.Logger, err)

			return
		}

		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(result)
	})
}

// RefuseWebPages returns an error for requests from web pages: they have no business in a test, and a developer's browser
// would send them.
func RefuseWebPages(r *http.Request) error {
	if r.Header.Get("Origin") != "" {
		return tarsy.Errorf(tarsy.CodeForbiddenOrigin, "Web pages may not control this server.")
	}

	return nil
}

// ReadStep reads a step from a request, or returns all its problems. The step is written as in a script: in YAML, which
// includes JSON. Exactly one of its fields must be set, as in the example.
func ReadStep[T any](r *http.Request, example string) (T, error) {
	var step T

	text, err := io.ReadAll(io.LimitReader(r.Body, maxStep))
	if err != nil {
		return step, tarsy.Errorf(tarsy.CodeInvalidParameter, "The body could not be read.")
	}

	problems := schema.Read("step", text, &step)
	if len(problems) == 0 && len(Given(step)) != 1 {
		problems = append(problems, "a step does exactly one thing, such as "+example)
	}

	if len(problems) > 0 {
		return step, tarsy.Errorf(tarsy.CodeInvalidParameter, "%s", strings.Join(problems, "\n"))
	}

	return step, nil
}

// Given returns the keys of a step that are set.
func Given(step any) []string {
	var given []string

	v := reflect.ValueOf(step)
	for _, f := range schema.FieldsOf(v.Type()) {
		if !v.Field(f.Index).IsZero() {
			given = append(given, f.Key)
		}
	}

	return given
}
