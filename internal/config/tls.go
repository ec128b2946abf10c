package config

// TLS is system.tls.
type TLS struct {
	CertFile string `yaml:"cert_file" doc:"PEM file with the certificate, followed by intermediate certificates. With it, the server serves only HTTPS. Changed files are loaded within 10 seconds, for new connections."`
	KeyFile  string `yaml:"key_file" doc:"PEM file with the certificate's private key."`
}

// Enabled reports whether the server speaks HTTPS.
func (t TLS) Enabled() bool { return t.CertFile != "" }

// checkTLS rejects a certificate without a key and vice versa.
func (c *Config) checkTLS() []Problem {
	switch t := c.System.TLS; {
	case t.CertFile != "" && t.KeyFile == "":
		return []Problem{c.problem("system.tls.key_file", "is required", "the private key of system.tls.cert_file, or the flag --tls-key")}
	case t.CertFile == "" && t.KeyFile != "":
		return []Problem{c.problem("system.tls.cert_file", "is required", "the certificate of system.tls.key_file, or the flag --tls-cert")}
	default:
		return nil
	}
}
