package api

import (
	"context"
	"encoding/hex"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	accountstore "tarsy.dev/tarsy/internal/postgres/account"
)

// loginCheckEvery is how often the logins of open streams are checked again. It is real time: another server may have changed the
// logins.
const loginCheckEvery = 2 * time.Second

// loginEndedKey is the context key of the channel that is closed when the login of a stream's request ends.
type loginEndedKey struct{}

// LoginEnded returns a channel that is closed when the key or browser session of a stream's request is no longer valid. It is nil, and
// so never closed, where no key is required.
func LoginEnded(r *http.Request) <-chan struct{} {
	ended, _ := r.Context().Value(loginEndedKey{}).(chan struct{})

	return ended
}

// login is the key or browser session of an open stream.
type login struct {
	who *caller
	// id identifies the login in the store: the id of a key, or the hexadecimal hash of a browser session.
	id    string
	ended chan struct{}
}

func newLogin(who *caller) *login {
	l := &login{who: who, ended: make(chan struct{})}
	if who.browser != nil {
		l.id = hex.EncodeToString(who.browserHash())
	} else {
		l.id = who.key.ID
	}

	return l
}

// loginWatch ends streams whose login is no longer valid. One query checks all open streams of a server; its goroutine runs while there
// are any, and the last stream to end waits for it.
type loginWatch struct {
	store  *accountstore.Store
	every  time.Duration
	clock  clockwork.Clock
	logger *slog.Logger

	mu     sync.Mutex
	logins map[*login]struct{}
	stop   func() // stops the running goroutine
}

// add watches the login of a request. The stream calls done when it has ended.
func (w *loginWatch) add(who *caller) (watched *login, done func()) {
	added := newLogin(who)

	w.mu.Lock()
	defer w.mu.Unlock()

	if w.logins == nil {
		w.logins = map[*login]struct{}{}
	}

	w.logins[added] = struct{}{}

	if w.stop == nil {
		w.stop = w.start()
	}

	return added, func() { w.remove(added) }
}

func (w *loginWatch) remove(l *login) {
	w.mu.Lock()
	delete(w.logins, l)

	var stop func()
	if len(w.logins) == 0 {
		stop, w.stop = w.stop, nil
	}
	w.mu.Unlock()

	if stop != nil {
		stop()
	}
}

func (w *loginWatch) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())

	var running sync.WaitGroup

	running.Go(func() {
		ticker := time.NewTicker(w.every)
		defer ticker.Stop()

		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				w.check(ctx)
			}
		}
	})

	return func() {
		cancel()
		running.Wait()
	}
}

// check ends the streams whose login is no longer valid. They continue while the store cannot be queried: they read from it as well.
func (w *loginWatch) check(ctx context.Context) {
	w.mu.Lock()

	open := make([]*login, 0, len(w.logins))
	for l := range w.logins {
		open = append(open, l)
	}
	w.mu.Unlock()

	// Several streams can share a login.
	keys, sessions := map[string]struct{}{}, map[string][]byte{}

	for _, l := range open {
		if l.who.browser != nil {
			sessions[l.id] = l.who.browserHash()
		} else {
			keys[l.id] = struct{}{}
		}
	}

	found, err := w.store.ActiveLogins(ctx, slices.Collect(maps.Keys(keys)), slices.Collect(maps.Values(sessions)), w.clock.Now())
	if err != nil {
		if ctx.Err() == nil {
			w.logger.WarnContext(ctx, "could not check the logins of open streams", "error", err)
		}

		return
	}

	active := map[string]struct{}{}
	for _, id := range found {
		active[id] = struct{}{}
	}

	for _, l := range open {
		if _, ok := active[l.id]; !ok {
			w.end(ctx, l)
		}
	}
}

func (w *loginWatch) end(ctx context.Context, l *login) {
	w.mu.Lock()
	defer w.mu.Unlock()

	// It may have left or been ended in the meantime.
	if _, open := w.logins[l]; !open {
		return
	}

	delete(w.logins, l)
	close(l.ended)
	w.logger.InfoContext(ctx, "stream ended with its login", l.who.logged()...)
}
