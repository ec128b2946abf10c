package app

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/runbook"
)

const (
	// certificateTTL is how long a certificate is cached. Amazon SNS keeps a certificate for months, at an address that identifies it.
	certificateTTL = 24 * time.Hour
	// failureTTL is how long a failed fetch is cached: strangers can send addresses.
	failureTTL       = time.Minute
	maxCertificates  = 16
	certificateBytes = 16 << 10
)

// snsCertificates fetches the signing certificates of Amazon SNS, one at a time, under the rules for runbooks and
// only from the host of the address.
type snsCertificates struct {
	fetch runbook.Config
	clock clockwork.Clock

	mu    sync.Mutex
	known map[string]snsCertificate
}

type snsCertificate struct {
	text  []byte
	err   error
	until time.Time
}

func newSNSCertificates(fetch runbook.Config, clock clockwork.Clock) *snsCertificates {
	return &snsCertificates{fetch: fetch, clock: clock, known: map[string]snsCertificate{}}
}

func (c *snsCertificates) get(ctx context.Context, address string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if found, ok := c.known[address]; ok && c.clock.Now().Before(found.until) {
		return found.text, found.err
	}

	if len(c.known) >= maxCertificates {
		clear(c.known)
	}

	got := snsCertificate{until: c.clock.Now().Add(certificateTTL)}
	if got.text, got.err = c.request(ctx, address); got.err != nil {
		got.until = c.clock.Now().Add(failureTTL)
	}

	if !errors.Is(got.err, context.Canceled) {
		c.known[address] = got
	}

	return got.text, got.err
}

func (c *snsCertificates) request(ctx context.Context, address string) ([]byte, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, err
	}

	own := c.fetch
	own.AllowedDomains, own.CacheTTL, own.GitHubToken, own.AnyType, own.MaxBytes = []string{at.Hostname()}, -1, "", true, certificateBytes

	fetcher := runbook.New(own)
	defer fetcher.Close()

	text, err := fetcher.Fetch(ctx, address)

	return []byte(text), err
}
