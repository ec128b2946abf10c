// Package runbook fetches runbooks that alerts name by URL. Whoever can send an alert chooses the URL, so the package
// decides where a request may go: to allowed hosts, at public addresses, for a short text.
//
// It knows nothing of sessions, nor of what a runbook is good for.
package runbook

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
	"golang.org/x/sync/singleflight"

	"tarsy.dev/tarsy"
)

const (
	defaultCacheTTL = time.Minute
	defaultMaxBytes = 256 << 10
	defaultTimeout  = 10 * time.Second
)

var (
	errTooSlow = errors.New("the time limit has passed")
	errClosed  = errors.New("the fetcher is closed")
)

// Config says where runbooks may come from. Its zero value allows GitHub.
type Config struct {
	// AllowedDomains are host names: "example.com" allows exactly that host, "*.example.com" its subdomains. Empty means
	// github.com and raw.githubusercontent.com.
	AllowedDomains []string
	// CacheTTL is how long a text is reused. Zero means a minute, negative means that nothing is.
	CacheTTL time.Duration
	// GitHubToken is sent to GitHub's hosts over https, and to nobody else.
	GitHubToken string
	// AnyType accepts texts of every declared type but web pages.
	AnyType bool
	// MaxBytes bounds a runbook. Zero means 256 KiB.
	MaxBytes int64
	// Timeout is for all of a fetch, redirects included. Zero means 10 s.
	Timeout time.Duration
	// Resolve finds the addresses of a host. Nil means the system's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to an address that was checked: it gets ip:port, never a name. Nil means net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// RootCAs are who certificates are trusted from. Nil means the system's.
	RootCAs *x509.CertPool
	Clock   clockwork.Clock
	Logger  *slog.Logger
}

// Fetcher fetches runbooks. Many may use it at once.
type Fetcher struct {
	cfg     Config
	domains []string
	special []netip.Prefix
	flights singleflight.Group
	cache   *cache

	// life ends with Close, and every fetch with it. The mutex keeps new ones from beginning after that.
	life    context.Context //nolint:containedctx // fetches outlive the callers that began them
	end     context.CancelCauseFunc
	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

// New makes a Fetcher. It connects to nothing.
func New(cfg Config) *Fetcher {
	if cfg.CacheTTL == 0 {
		cfg.CacheTTL = defaultCacheTTL
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = defaultMaxBytes
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.Resolve == nil {
		cfg.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if cfg.Dial == nil {
		cfg.Dial = (&net.Dialer{}).DialContext
	}
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.GitHubToken = strings.TrimSpace(cfg.GitHubToken)

	life, end := context.WithCancelCause(context.Background())

	return &Fetcher{
		cfg: cfg, domains: domains(cfg.AllowedDomains, cfg.Logger), special: specialPrefixes(),
		cache: newCache(cfg.Clock, cfg.CacheTTL), life: life, end: end,
	}
}

// Check says what can be said of a URL without the network. What it refuses is a *tarsy.Error.
func (f *Fetcher) Check(rawURL string) error {
	_, err := f.locate(rawURL)

	return err
}

// Fetch returns the text at a URL: valid UTF-8 without NUL, never empty. Those who ask for one URL at the same time share one
// request, which goes on when one of them gives up. The end of ctx is returned as its cause; everything else that goes
// wrong is a *tarsy.Error whose message may be shown.
func (f *Fetcher) Fetch(ctx context.Context, rawURL string) (string, error) {
	at, err := f.locate(rawURL)
	if err != nil {
		return "", err
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("fetch the runbook: %w", context.Cause(ctx))
	}

	key := at.String()
	if known, ok := f.cache.get(key); ok {
		return known.text, known.err
	}

	flight := f.flights.DoChan(key, func() (any, error) { return f.fetchShared(key, at), nil })
	select {
	case <-ctx.Done():
		return "", fmt.Errorf("fetch the runbook: %w", context.Cause(ctx))
	case landed := <-flight:
		got, _ := landed.Val.(result)

		return got.text, got.err
	}
}

// fetchShared makes the one request for all who wait for it. Its time is its own, not that of the caller who came first.
func (f *Fetcher) fetchShared(key string, at *url.URL) result {
	if !f.begin() {
		return result{err: shuttingDown()}
	}
	defer f.running.Done()

	// A flight may have landed between the caller's look and this one.
	if known, ok := f.cache.get(key); ok {
		return known
	}

	ctx, cancel := context.WithCancelCause(f.life)
	defer cancel(nil)
	timer := f.cfg.Clock.AfterFunc(f.cfg.Timeout, func() { cancel(errTooSlow) })
	defer timer.Stop()

	text, err := f.follow(ctx, at)
	got := result{text: text}

	// Time comes first: a server that is hung up on may end its body properly, and half a text would pass for a whole one.
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errClosed):
		return result{err: shuttingDown()}
	case errors.Is(cause, errTooSlow):
		got = result{err: f.logFailure(at, failure(tarsy.CodeUnavailable, at, err, "it took longer than %v", f.cfg.Timeout))}
	case err != nil:
		got = result{err: f.logFailure(at, err)}
	default:
		f.cfg.Logger.Debug("fetched a runbook", "url", withoutQuery(at), "bytes", len(text))
	}
	f.cache.put(key, got)

	return got
}

// logFailure logs a failure with its cause, and returns it without: causes name addresses and what a server made up.
func (f *Fetcher) logFailure(at *url.URL, err error) error {
	failed, ok := errors.AsType[*tarsy.Error](err)
	if !ok {
		failed = failure(tarsy.CodeInternal, at, err, "something went wrong")
	}
	f.cfg.Logger.Warn("could not fetch a runbook", "url", withoutQuery(at), "code", failed.Code, "reason", failed.Message,
		"cause", fmt.Sprintf("%.300v", failed.Err))

	return &tarsy.Error{Code: failed.Code, Message: failed.Message}
}

func (f *Fetcher) begin() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.running.Add(1)

	return true
}

// Close ends the fetches that run and waits for them. A fetch after it fails.
func (f *Fetcher) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()

	f.end(errClosed)
	f.running.Wait()
}

func shuttingDown() error {
	return tarsy.Errorf(tarsy.CodeShuttingDown, "the runbook was not fetched: the server is shutting down")
}

// failure says what went wrong with a host, in words for people; the cause is for the log.
func failure(code tarsy.Code, at *url.URL, cause error, format string, args ...any) *tarsy.Error {
	return &tarsy.Error{
		Code:    code,
		Message: "could not fetch the runbook from " + at.Hostname() + ": " + fmt.Sprintf(format, args...),
		Err:     cause,
	}
}
