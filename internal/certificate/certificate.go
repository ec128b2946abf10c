// Package certificate loads the TLS certificate of a listener from two files, and reloads it when they change. It knows nothing
// of what is served.
package certificate

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/background"
)

// CheckEvery is the minimum interval between checks of the files. Handshakes perform the checks.
const CheckEvery = 10 * time.Second

// Config configures Files.
type Config struct {
	// CertFile contains the certificate followed by the intermediate ones, KeyFile its private key; both are PEM.
	CertFile, KeyFile string
	// Note is called after every check of the files, with nil if the certificate in use is the one in the files.
	Note   func(error)
	Clock  clockwork.Clock
	Logger *slog.Logger
}

// Files is a certificate that follows its files. It is safe for concurrent use.
//
// Files are compared by content, not by time: renewals copy files with old times, and mounted secrets change by symbolic link.
type Files struct {
	cfg     Config
	outage  background.Outage
	current atomic.Pointer[tls.Certificate]

	mu sync.Mutex
	// cert and key are the contents that current was parsed from.
	cert, key []byte
	checked   time.Time
}

// Open loads the files, which must be valid.
func Open(ctx context.Context, cfg Config) (*Files, error) {
	f := &Files{cfg: cfg, outage: background.Outage{
		Failing: "could not load the changed TLS certificate, the previous one stays in use", Over: "TLS certificate can be loaded again",
		Level: slog.LevelWarn, Logger: cfg.Logger,
	}}

	if err := f.load(ctx); err != nil {
		return nil, err
	}

	f.checked = cfg.Clock.Now()

	return f, nil
}

// Certificate returns the certificate for a handshake; it is for tls.Config.GetCertificate. If a file becomes unreadable or
// invalid, the previous certificate stays in use.
func (f *Files) Certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	// One handshake checks the files; the others do not wait for it.
	if f.mu.TryLock() {
		defer f.mu.Unlock()

		if now := f.cfg.Clock.Now(); now.Sub(f.checked) >= CheckEvery {
			f.checked = now

			err := f.load(hello.Context())
			f.outage.Note(hello.Context(), err)
			f.cfg.Note(err)
		}
	}

	return f.current.Load(), nil
}

// load reads the files and stores the certificate, unless it is already in use.
func (f *Files) load(ctx context.Context) error {
	cert, key, err := read(f.cfg.CertFile, f.cfg.KeyFile)
	if err != nil || bytes.Equal(cert, f.cert) && bytes.Equal(key, f.key) {
		return err
	}

	pair, err := parse(f.cfg.CertFile, f.cfg.KeyFile, cert, key)
	if err != nil {
		return err
	}

	f.current.Store(pair)
	f.cert, f.key = cert, key

	level := slog.LevelInfo
	if f.cfg.Clock.Now().After(pair.Leaf.NotAfter) {
		level = slog.LevelWarn
	}

	f.cfg.Logger.Log(ctx, level, "TLS certificate loaded", "file", f.cfg.CertFile, "names", Names(pair), "not_after", pair.Leaf.NotAfter)

	return nil
}

// Load loads a certificate and its key once.
func Load(certFile, keyFile string) (*tls.Certificate, error) {
	cert, key, err := read(certFile, keyFile)
	if err != nil {
		return nil, err
	}

	return parse(certFile, keyFile, cert, key)
}

// Names returns the host names and IP addresses of a certificate.
func Names(pair *tls.Certificate) []string {
	names := append([]string{}, pair.Leaf.DNSNames...)
	for _, address := range pair.Leaf.IPAddresses {
		names = append(names, address.String())
	}

	return names
}

func read(certFile, keyFile string) (cert, key []byte, err error) {
	if cert, err = os.ReadFile(certFile); err != nil {
		return nil, nil, fmt.Errorf("read the TLS certificate: %w", err)
	}

	if key, err = os.ReadFile(keyFile); err != nil {
		return nil, nil, fmt.Errorf("read the key of the TLS certificate: %w", err)
	}

	return cert, key, nil
}

func parse(certFile, keyFile string, cert, key []byte) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("the TLS certificate %s with the key %s cannot be used: %w", certFile, keyFile, err)
	}

	return &pair, nil
}
