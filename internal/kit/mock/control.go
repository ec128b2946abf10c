package mock

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/internal/kit/mock/virtual"
	"tarsy.dev/tarsy/internal/nearest"
	"tarsy.dev/tarsy/internal/problem"
	"tarsy.dev/tarsy/llm/script"
)

const (
	defaultLimit = 1000
	// maxWait limits how long a caller may wait for a gate to be reached.
	maxWait = 5 * time.Minute
)

// routeControl registers the server's own endpoints, which tests in any language use.
func (s *Server) routeControl() {
	for pattern, handle := range map[string]func(w http.ResponseWriter, r *http.Request) error{
		"GET /_mock/health":             s.getHealth,
		"GET /_mock/lanes":              s.getLanes,
		"GET /_mock/journal":            s.getJournal,
		"DELETE /_mock/journal":         s.deleteJournal,
		"GET /_mock/journal/{number}":   s.getEntry,
		"GET /_mock/unused":             s.getUnused,
		"GET /_mock/unexpected":         s.getUnexpected,
		"GET /_mock/verify":             s.getVerify,
		"POST /_mock/reset":             s.postReset,
		"GET /_mock/gates/{name}":       s.getGate,
		"POST /_mock/gates/{name}/open": s.postGate,
	} {
		s.control.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			err := virtual.RefuseWebPages(r)
			if err == nil {
				err = handle(w, r)
			}

			if err != nil {
				problem.Write(w, r, s.logger, err)
			}
		})
	}

	s.control.HandleFunc("/_mock/", func(w http.ResponseWriter, r *http.Request) {
		problem.Write(w, r, s.logger, tarsy.Errorf(tarsy.CodeNotFound,
			"There is no %s %s. There are GET health, lanes, journal, journal/NUMBER, unused, unexpected, verify and gates/NAME, "+
				"DELETE journal, POST reset and gates/NAME/open, all below /_mock/; where Discord is served, also GET discord, GET discord/sent and "+
				"POST discord/steps; where Slack is, GET slack, slack/messages, slack/journal and slack/modals, and POST slack/steps.", r.Method, r.URL.Path))
	})
}

func (s *Server) getHealth(w http.ResponseWriter, _ *http.Request) error {
	return reply(w, http.StatusOK, map[string]any{"status": "ok"})
}

func (s *Server) getLanes(w http.ResponseWriter, _ *http.Request) error {
	names := s.lanes.names()

	return reply(w, http.StatusOK, map[string]any{"lanes": append([]string{}, names...)})
}

// journalPage is a part of the journal. Last is the value of after for the next page.
type journalPage struct {
	Entries []exchange.Entry `json:"entries"`
	Last    int64            `json:"last"`
	Dropped int64            `json:"dropped"`
}

func (s *Server) getJournal(w http.ResponseWriter, r *http.Request) error {
	values := r.URL.Query()
	q := query{lane: given(values, "lane"), api: given(values, "api"), model: given(values, "model")}

	after, err := number(values, "after", 0)
	if err != nil {
		return err
	}

	limit, err := number(values, "limit", defaultLimit)
	if err != nil {
		return err
	}

	if limit == 0 {
		return &tarsy.Error{Code: tarsy.CodeInvalidParameter, Message: "limit must be at least 1.", Field: "limit"}
	}

	q.after, q.limit = after, int(limit)

	page := journalPage{Last: after}

	page.Entries, page.Dropped = s.journal.read(q)
	if n := len(page.Entries); n > 0 {
		page.Last = page.Entries[n-1].Number
	} else {
		page.Entries = []exchange.Entry{}
	}

	return reply(w, http.StatusOK, page)
}

func (s *Server) deleteJournal(w http.ResponseWriter, r *http.Request) error {
	s.journal.clear(given(r.URL.Query(), "lane"))
	w.WriteHeader(http.StatusNoContent)

	return nil
}

func (s *Server) getEntry(w http.ResponseWriter, r *http.Request) error {
	wanted, err := strconv.ParseInt(r.PathValue("number"), 10, 64)
	if err != nil {
		return &tarsy.Error{Code: tarsy.CodeInvalidParameter, Message: "An entry is named by its number.", Field: "number"}
	}

	entries, _ := s.journal.read(query{after: wanted - 1, limit: 1})
	if len(entries) == 0 || entries[0].Number != wanted {
		return tarsy.Errorf(tarsy.CodeNotFound, "The journal has no entry %d; it may have been dropped.", wanted)
	}

	return reply(w, http.StatusOK, entries[0])
}

func (s *Server) getUnused(w http.ResponseWriter, r *http.Request) error {
	return reply(w, http.StatusOK, map[string]any{"lanes": s.verdicts(r, func(v *Verdict) { v.Unexpected = nil })})
}

func (s *Server) getUnexpected(w http.ResponseWriter, r *http.Request) error {
	return reply(w, http.StatusOK, map[string]any{"lanes": s.verdicts(r, func(v *Verdict) { v.Unused = nil })})
}

// refusal is the problem details of a run that did not go as planned.
type refusal struct {
	*problem.Problem

	Lanes []Verdict `json:"lanes"`
}

// getVerify reports with its status whether everything went as planned, so that a test needs only one request at its end.
func (s *Server) getVerify(w http.ResponseWriter, r *http.Request) error {
	all := s.verdicts(r, nil)
	summary := Summary(all)

	if summary == "" {
		return reply(w, http.StatusOK, map[string]any{"lanes": all})
	}

	w.Header().Set("Content-Type", problem.MediaType)

	return reply(w, http.StatusConflict, refusal{problem.New(tarsy.Errorf(tarsy.CodeConflict, "%s", summary)), all})
}

func (s *Server) verdicts(r *http.Request, narrow func(*Verdict)) []Verdict {
	all := s.Verify()
	if lane := given(r.URL.Query(), "lane"); lane != nil {
		all = []Verdict{s.VerifyLane(*lane)}
	}

	if narrow != nil {
		for i := range all {
			narrow(&all[i])
		}
	}

	return all
}

func (s *Server) postReset(w http.ResponseWriter, r *http.Request) error {
	lane := given(r.URL.Query(), "lane")
	if lane == nil {
		s.Reload()
	} else {
		s.lanes.forget(*lane)
		s.exchanges.Store.Clear(lane)
	}

	s.journal.clear(lane)
	w.WriteHeader(http.StatusNoContent)

	return nil
}

// gateState is the state of a gate in a response.
type gateState struct {
	Name    string `json:"name"`
	Reached bool   `json:"reached"`
}

// getGate reports whether a call has reached a gate; with wait, it waits for that.
func (s *Server) getGate(w http.ResponseWriter, r *http.Request) error {
	gate, err := s.gate(r)
	if err != nil {
		return err
	}

	wait, err := time.ParseDuration("0" + r.URL.Query().Get("wait"))
	if err != nil || wait < 0 || wait > maxWait {
		return &tarsy.Error{Code: tarsy.CodeInvalidParameter, Message: "wait must be a duration of at most 5m, such as 5s.", Field: "wait"}
	}

	timer := time.NewTimer(wait)
	defer timer.Stop()

	select {
	case <-gate.Reached():
	case <-timer.C:
	case <-r.Context().Done():
	}

	state := gateState{Name: r.PathValue("name")}

	select {
	case <-gate.Reached():
		state.Reached = true
	default:
	}

	return reply(w, http.StatusOK, state)
}

func (s *Server) postGate(w http.ResponseWriter, r *http.Request) error {
	gate, err := s.gate(r)
	if err != nil {
		return err
	}

	gate.Open()
	w.WriteHeader(http.StatusNoContent)

	return nil
}

func (s *Server) gate(r *http.Request) (*script.Gate, error) {
	lane, failure := s.lanes.get(r.URL.Query().Get("lane"))
	if failure != nil {
		return nil, tarsy.Errorf(tarsy.CodeConflict, "%s", failure.Message)
	}

	if lane.script == nil {
		return nil, tarsy.Errorf(tarsy.CodeNotFound, "There is no script, so there are no gates.")
	}

	name := r.PathValue("name")
	if s.cfg.Gates != nil && !slices.Contains(s.cfg.Gates(), name) {
		return nil, tarsy.Errorf(tarsy.CodeNotFound, "The script has no gate %q; %s", name, nearest.HintWithList(name, s.cfg.Gates(), "gates"))
	}

	return lane.script.Gate(name), nil
}

// given returns a parameter, or nil if it was not given: the name of a lane can be empty.
func given(values url.Values, name string) *string {
	if !values.Has(name) {
		return nil
	}

	value := values.Get(name)

	return &value
}

func number(values url.Values, name string, otherwise int64) (int64, error) {
	if !values.Has(name) {
		return otherwise, nil
	}

	const bits = 31

	n, err := strconv.ParseUint(values.Get(name), 10, bits)
	if err != nil {
		return 0, &tarsy.Error{Code: tarsy.CodeInvalidParameter, Message: name + " must be a number that is not negative.", Field: name}
	}

	return int64(n), nil
}

func reply(w http.ResponseWriter, status int, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}

	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}

	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))

	return nil
}
