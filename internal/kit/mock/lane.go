package mock

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

const (
	// LaneHeader is the header by which LaneByHeader distinguishes lanes.
	LaneHeader = "X-Tarsy-Lane"

	defaultLanes = 1000
	// maxLaneName limits the length of a lane's name, and maxUnexpected how many unexpected requests a lane remembers.
	maxLaneName   = 200
	maxUnexpected = 1000
)

// LaneByHeader is a Config.Lane: each value of the header X-Tarsy-Lane has its own lane.
func LaneByHeader(r *http.Request) string { return r.Header.Get(LaneHeader) }

// LaneByKey is a Config.Lane: each API key has its own lane, named by a hash of the key.
func LaneByKey(r *http.Request) string {
	key := keyOf(r)
	if key == "" {
		return ""
	}

	const short = 6

	sum := sha256.Sum256([]byte(key))

	return "key-" + hex.EncodeToString(sum[:short])
}

// keyOf returns the API key of a request, wherever its API expects it.
func keyOf(r *http.Request) string {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return bearer
	}

	for _, name := range []string{"X-Api-Key", "X-Goog-Api-Key", "Api-Key"} {
		if key := r.Header.Get(name); key != "" {
			return key
		}
	}

	return r.URL.Query().Get("key")
}

// lane is one test's part of the server: its own script or tape, and its unexpected requests.
type lane struct {
	name   string
	script *script.Script
	tape   Tape

	mu         sync.Mutex
	unexpected []string
	more       int
}

func (l *lane) note(entry *exchange.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if len(l.unexpected) == maxUnexpected {
		l.more++

		return
	}

	l.unexpected = append(l.unexpected, fmt.Sprintf("request %d, %s %s: %s", entry.Number, entry.Method, entry.Path, entry.Error))
}

// forget removes the unexpected requests.
func (l *lane) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.unexpected, l.more = nil, 0
}

func (l *lane) unusedNow() []string {
	if l.tape != nil {
		return l.tape.Unused()
	}

	return l.script.Unused()
}

func (l *lane) unexpectedNow() []string {
	l.mu.Lock()
	defer l.mu.Unlock()

	all := slices.Clone(l.unexpected)
	if l.more > 0 {
		all = append(all, fmt.Sprintf("and %d more", l.more))
	}

	return all
}

// lanes are all lanes in use.
type lanes struct {
	limit  int
	create func(name string) *lane

	mu     sync.RWMutex
	byName map[string]*lane
}

func newLanes(limit int, create func(name string) *lane) *lanes {
	if limit <= 0 {
		limit = defaultLanes
	}

	return &lanes{limit: limit, create: create, byName: map[string]*lane{}}
}

// get returns a lane, and creates it if there is none of that name. A server with too many lanes removes none of them:
// their tests have yet to ask what was unused.
func (l *lanes) get(name string) (*lane, *llm.Error) {
	if known := l.find(name); known != nil {
		return known, nil
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	if known, ok := l.byName[name]; ok {
		return known, nil
	}

	if len(name) > maxLaneName {
		return nil, laneError("the name of a lane has at most %d bytes, this one has %d", maxLaneName, len(name))
	}

	if len(l.byName) >= l.limit {
		return nil, laneError("there are %d lanes already; POST /_mock/reset?lane=NAME forgets one that is over", len(l.byName))
	}

	made := l.create(name)
	l.byName[name] = made

	return made, nil
}

// find returns an existing lane, or nil.
func (l *lanes) find(name string) *lane {
	l.mu.RLock()
	defer l.mu.RUnlock()

	return l.byName[name]
}

// names returns the names of all lanes, sorted.
func (l *lanes) names() []string {
	l.mu.RLock()
	defer l.mu.RUnlock()

	return slices.Sorted(maps.Keys(l.byName))
}

// forget removes a lane: the next request with its name gets a fresh one.
func (l *lanes) forget(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()

	delete(l.byName, name)
}

func (l *lanes) forgetAll() {
	l.mu.Lock()
	defer l.mu.Unlock()

	clear(l.byName)
}

// laneError returns a bad request error, which SDKs do not retry.
func laneError(format string, args ...any) *llm.Error {
	return &llm.Error{
		Class: llm.ClassInvalid, Status: http.StatusBadRequest, Code: "no_such_lane", Message: fmt.Sprintf(format, args...),
	}
}
