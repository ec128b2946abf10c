package published

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/loopback"
)

// Prefix precedes the paths of the published TARSy.
const Prefix = "/published"

const apiPath = "/api/v1"

// Calls returns the patterns of the supported calls, without Prefix.
func Calls() []string {
	return []string{
		"POST " + apiPath + "/alerts", "GET " + apiPath + "/sessions", "GET " + apiPath + "/sessions/{id}",
		"GET " + apiPath + "/sessions/{id}/status", "GET " + apiPath + "/sessions/{id}/timeline",
	}
}

// Handler serves the calls under Prefix with responses of the API, and passes all other requests to the API.
func Handler(api http.Handler) http.Handler {
	mux := http.NewServeMux()

	for n, answer := range []func(call) (int, any, error){submit, list, detail, status, timeline} {
		mux.HandleFunc(patternBelowPrefix(Calls()[n]), func(w http.ResponseWriter, r *http.Request) {
			code, body, err := answer(call{Request: r, api: &loopback.Transport{API: api, From: r}})
			write(w, code, body, err)
		})
	}

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" && r.URL.Path == path.Clean(r.URL.Path) {
			mux.ServeHTTP(w, r)
		} else {
			api.ServeHTTP(w, r)
		}
	})
}

func patternBelowPrefix(pattern string) string {
	method, route, _ := strings.Cut(pattern, " ")

	return method + " " + Prefix + route
}

// call is a request of a client program.
type call struct {
	*http.Request

	api *loopback.Transport
}

// failure is an error response.
type failure struct {
	status     int
	retryAfter string
	Message    string     `json:"message"`
	Code       tarsy.Code `json:"code"`
}

// Error implements error.
func (f *failure) Error() string { return f.Message }

func refuse(field, format string, args ...any) error {
	return &failure{status: http.StatusBadRequest, Code: tarsy.CodeInvalidRequest, Message: field + ": " + fmt.Sprintf(format, args...)}
}

// get requests a path from the API and decodes the response.
func (c call) get(path string, query url.Values, into any) error {
	request, err := http.NewRequestWithContext(c.Context(), http.MethodGet, address(path, query), http.NoBody)
	if err != nil {
		return err
	}

	return c.do(request, into)
}

// address returns the URL of a path of the API. The transport replaces the host with the one that the program has called.
func address(path string, query url.Values) string {
	return "http://tarsy" + apiPath + path + "?" + query.Encode()
}

// session returns the path of the session named in the request.
func (c call) session() string { return "/sessions/" + url.PathEscape(c.PathValue("id")) }

func (c call) do(request *http.Request, into any) error {
	response, err := c.api.RoundTrip(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()

	if response.StatusCode >= http.StatusBadRequest {
		problem := struct {
			Title  string     `json:"title"`
			Detail string     `json:"detail"`
			Code   tarsy.Code `json:"code"`
		}{}
		_ = json.NewDecoder(response.Body).Decode(&problem)

		return &failure{
			status: response.StatusCode, retryAfter: response.Header.Get("Retry-After"), Code: problem.Code, Message: cmp.Or(problem.Detail, problem.Title),
		}
	}

	return json.NewDecoder(response.Body).Decode(into)
}

func write(w http.ResponseWriter, status int, body any, err error) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")

	if err != nil {
		failed, ok := errors.AsType[*failure](err)
		if !ok {
			failed = &failure{status: http.StatusInternalServerError, Code: tarsy.CodeInternal, Message: "The server could not answer."}
		}

		if failed.retryAfter != "" {
			header.Set("Retry-After", failed.retryAfter)
		}

		status, body = failed.status, failed
	}

	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // the program is gone
}
