// Package runbook fetches runbooks that alerts reference by URL. Anyone who can send an alert chooses the URL, so the package
// restricts requests: to allowed hosts, at public addresses, for a short text.
//
// It knows nothing of sessions or of the use of a runbook.
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

// Config defines where runbooks can come from. The zero value allows GitHub.
type Config struct {
	// AllowedDomains are host names: "example.com" allows exactly that host, "*.example.com" its subdomains. Empty means
	// github.com and raw.githubusercontent.com.
	AllowedDomains []string
	// CacheTTL is how long a text is reused. Zero means one minute, negative disables the cache.
	CacheTTL time.Duration
	// GitHubToken is sent only to GitHub's hosts, over https.
	GitHubToken string
	// AnyType accepts text of every declared type except web pages.
	AnyType bool
	// MaxBytes is the maximum size of a runbook. Zero means 256 KiB.
	MaxBytes int64
	// Timeout limits a whole fetch, including redirects. Zero means 10 s.
	Timeout time.Duration
	// Resolve returns the addresses of a host. Nil means the system's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to a checked address: it gets ip:port, never a name. Nil means net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// RootCAs are the trusted certificate authorities. Nil means the system's.
	RootCAs *x509.CertPool
	Clock   clockwork.Clock
	Logger  *slog.Logger
}

// Fetcher fetches runbooks. It is safe for concurrent use.
type Fetcher struct {
	cfg     Config
	domains []string
	special []netip.Prefix
	flights singleflight.Group
	cache   *cache

	// life is done after Close, which cancels every fetch. The mutex prevents new fetches from starting after that.
	life    context.Context //nolint:containedctx // fetches outlive the callers that began them
	end     context.CancelCauseFunc
	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

// New creates a Fetcher. It makes no connections.
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

// Check validates a URL without the network. Its error is a *tarsy.Error.
func (f *Fetcher) Check(rawURL string) error {
	_, err := f.locate(rawURL)

	return err
}

// Fetch returns the text at a URL: valid UTF-8 without NUL, never empty. Concurrent calls for one URL share one request, which
// continues when one of the callers gives up. If ctx is done, its cause is returned; every other error is a *tarsy.Error whose
// message can be shown.
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

// fetchShared makes the single request for all waiting callers. It has its own time limit, independent of the first caller's.
func (f *Fetcher) fetchShared(key string, at *url.URL) result {
	if !f.begin() {
		return result{err: shuttingDown()}
	}
	defer f.running.Done()

	// Another request may have finished since the caller checked the cache.
	if known, ok := f.cache.get(key); ok {
		return known
	}

	ctx, cancel := context.WithCancelCause(f.life)
	defer cancel(nil)
	timer := f.cfg.Clock.AfterFunc(f.cfg.Timeout, func() { cancel(errTooSlow) })
	defer timer.Stop()

	text, err := f.follow(ctx, at)
	got := result{text: text}

	// The cause is checked first: a server whose connection is cut may end its body properly, and half a text would pass for a
	// whole one.
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

// logFailure logs a failure with its cause, and returns it without: causes contain addresses and text from servers.
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

// Close cancels running fetches and waits for them. Later fetches fail.
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

// failure returns an error about a host in words for people; the cause is for the log.
func failure(code tarsy.Code, at *url.URL, cause error, format string, args ...any) *tarsy.Error {
	return &tarsy.Error{
		Code:    code,
		Message: "could not fetch the runbook from " + at.Hostname() + ": " + fmt.Sprintf(format, args...),
		Err:     cause,
	}
}
