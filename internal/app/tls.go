package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"

	"tarsy.dev/tarsy/internal/certificate"
)

// openCertificate loads the certificate of the listener. Without one, the server speaks plain HTTP.
func (a *App) openCertificate(ctx context.Context) error {
	files := a.options.Config.System.TLS
	if !files.Enabled() {
		return nil
	}

	opened, err := certificate.Open(ctx, certificate.Config{
		CertFile: files.CertFile, KeyFile: files.KeyFile, Note: a.noteCertificate, Clock: a.clock, Logger: a.logger,
	})
	if err != nil {
		return fmt.Errorf("system.tls: %w", err)
	}

	a.tls = &tls.Config{GetCertificate: opened.Certificate, MinVersion: tls.VersionTLS12}

	return nil
}

// noteCertificate sets a warning while the certificate in use differs from the files.
func (a *App) noteCertificate(err error) {
	const message = "The TLS certificate has changed and cannot be loaded. The previous one stays in use."

	if err == nil {
		a.warnings.remove(categoryConfig, message)

		return
	}

	a.warnings.set(categoryConfig, "", message, err.Error(), a.clock.Now())
}

// Secure reports whether the server speaks HTTPS.
func (a *App) Secure() bool { return a.tls != nil }

// httpLog receives the log of the HTTP server. Any client can make a handshake fail, so such lines are rate limited.
type httpLog struct{ app *App }

// Write implements io.Writer. log.Logger calls it once per line.
func (l httpLog) Write(raw []byte) (int, error) {
	text := strings.TrimSpace(string(raw))

	if failed, ok := strings.CutPrefix(text, "http: TLS handshake error from "); ok {
		remote, reason, _ := strings.Cut(failed, ": ")
		l.app.notice.Refused(context.Background(), "TLS handshake failed", "remote", remote, "error", reason)
	} else {
		l.app.logger.Warn(text)
	}

	return len(raw), nil
}
