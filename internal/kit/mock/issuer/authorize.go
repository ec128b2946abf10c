package issuer

import (
	"crypto/rand"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// page is where people choose an identity. Its values are escaped.
var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Mock issuer</title><meta name="viewport" content="width=device-width"></head>
<body><main><h1>Mock issuer</h1><p>Choose who logs in to {{.Client}}. There are no passwords.</p>
<form method="post">
{{range $name, $value := .Hidden}}<input type="hidden" name="{{$name}}" value="{{$value}}">{{end}}
{{range .People}}<p><button name="subject" value="{{.Subject}}">{{.Subject}}</button></p>{{end}}
<p><button name="deny" value="true">Deny</button></p>
</form></main></body></html>
`))

// formParams returns the parameters of an authorization request that the form repeats.
func formParams() []string {
	return []string{"client_id", "redirect_uri", "response_type", "scope", "state", "nonce", "code_challenge", "code_challenge_method"}
}

// check returns what is wrong with an authorization request, or "". The browser is never sent to an address that is not the
// client's.
func (s *Server) check(form url.Values) (problem string) {
	switch {
	case form.Get("client_id") != s.cfg.ClientID:
		return "unknown client_id"
	case !s.allowsRedirect(form.Get("redirect_uri")):
		return "redirect_uri is not registered"
	case form.Get("response_type") != "code":
		return "response_type must be code"
	case !slices.Contains(strings.Fields(form.Get("scope")), "openid"):
		return "scope must contain openid"
	case form.Get("code_challenge_method") != "S256" || form.Get("code_challenge") == "":
		return "code_challenge with the method S256 is required"
	case form.Get("state") == "" || form.Get("nonce") == "":
		return "state and nonce are required"
	default:
		return ""
	}
}

func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()

	if problem := s.check(query); problem != "" {
		http.Error(w, problem, http.StatusBadRequest)

		return
	}

	hidden := map[string]string{}
	for _, name := range formParams() {
		hidden[name] = query.Get(name)
	}

	w.Header().Set("Content-Type", "text/html; charset=utf-8")

	_ = page.Execute(w, map[string]any{"Client": s.cfg.ClientID, "Hidden": hidden, "People": s.cfg.People})
}

// decide sends the browser back with a code, or with the error that the login was denied.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	const maxForm = 64 << 10

	r.Body = http.MaxBytesReader(w, r.Body, maxForm)

	if err := r.ParseForm(); err != nil {
		http.Error(w, "not a form", http.StatusBadRequest)

		return
	}

	form := r.PostForm

	if problem := s.check(form); problem != "" {
		http.Error(w, problem, http.StatusBadRequest)

		return
	}

	answer := url.Values{"state": {form.Get("state")}, "iss": {s.url(r)}, "session_state": {"unknown to the client"}}

	if form.Get("deny") != "" {
		answer.Set("error", "access_denied")
	} else {
		i := slices.IndexFunc(s.cfg.People, func(p Person) bool { return p.Subject == form.Get("subject") })
		if i < 0 {
			http.Error(w, "unknown subject", http.StatusBadRequest)

			return
		}

		answer.Set("code", s.grant(grant{
			redirectURI: form.Get("redirect_uri"), challenge: form.Get("code_challenge"), nonce: form.Get("nonce"), person: s.cfg.People[i], at: s.cfg.Clock.Now(),
		}))
	}

	http.Redirect(w, r, form.Get("redirect_uri")+"?"+answer.Encode(), http.StatusSeeOther) //nolint:gosec // the client's, as checked
}

// grant returns a code. If too many codes are not exchanged, the existing ones become invalid.
func (s *Server) grant(g grant) string {
	code := rand.Text()

	s.mu.Lock()
	defer s.mu.Unlock()

	if len(s.codes) >= maxCodes {
		clear(s.codes)
	}

	s.codes[code] = g

	return code
}
