package mcp

import (
	"slices"
	"strings"
)

// passedOn are the variables of this process that a stdio server gets by default: what programs need to find their files, write text
// and reach the network. Everything else may be a secret that the server must not have.
var passedOn = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "PWD", "TMPDIR", "TMP", "TEMP", "TZ", "LANG", "LANGUAGE",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
	"SSL_CERT_FILE", "SSL_CERT_DIR",
	// The address of the Kubernetes cluster, without credentials.
	"KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
}

// environment returns the environment of a stdio server, given the variables of this process.
func (t Transport) environment(own []string) []string {
	result := slices.Clone(own)
	if !t.InheritEnv {
		result = slices.DeleteFunc(result, func(entry string) bool {
			name, _, _ := strings.Cut(entry, "=")

			return !slices.Contains(passedOn, name) && !strings.HasPrefix(name, "LC_")
		})
	}
	for name, value := range t.Env {
		result = append(result, name+"="+value)
	}

	return result
}
