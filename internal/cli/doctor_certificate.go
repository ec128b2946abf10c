package cli

import (
	"fmt"
	"strings"
	"time"

	"tarsy.dev/tarsy/internal/certificate"
	"tarsy.dev/tarsy/internal/config"
)

// expiresSoon is how long before its expiry a certificate is reported.
const expiresSoon = 14 * day

// checkCertificate checks the certificate that the server would use, if any.
func checkCertificate(files config.TLS, now time.Time) []finding {
	const check = "TLS certificate"

	if !files.Enabled() {
		return nil
	}

	pair, err := certificate.Load(files.CertFile, files.KeyFile)
	if err != nil {
		return []finding{{check, findingFail, line(err), "check system.tls, --tls-cert and --tls-key, and who may read the files"}}
	}

	until := pair.Leaf.NotAfter
	found := fmt.Sprintf("for %s, valid until %s", strings.Join(certificate.Names(pair), ", "), until.UTC().Format("2006-01-02 15:04 MST"))

	switch {
	case now.After(until):
		return []finding{{check, findingFail, found, "it has expired: renew it; the server loads it without a restart"}}
	case now.Add(expiresSoon).After(until):
		return []finding{{check, findingWarn, found, "renew it; the server loads it without a restart"}}
	default:
		return []finding{{check, findingOK, found, ""}}
	}
}
