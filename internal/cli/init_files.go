package cli

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed init.yaml.tmpl
var initTemplate string

// write writes both files atomically, the variables readable only by their owner.
func (f initFiles) write(found environment) error {
	parsed, err := template.New("tarsy.yaml").Parse(initTemplate)
	if err != nil {
		return fmt.Errorf("read the template: %w", err)
	}

	var text bytes.Buffer
	if err := parsed.Execute(&text, map[string]any{"Found": found, "Receiver": initReceiver, "TokenVariable": tokenVariable}); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}

	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return fmt.Errorf("create the directory: %w", err)
	}

	if err := replaceFile(f.config(), func(out io.Writer) error { return copyText(out, text.String()) }); err != nil {
		return err
	}

	// CreateTemp used mode 0600, but this file contains no secret.
	if err := os.Chmod(f.config(), 0o644); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}

	return replaceFile(f.variables(), func(out io.Writer) error { return copyText(out, variablesText(found)) })
}

func copyText(out io.Writer, text string) error {
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("write the file: %w", err)
	}

	return nil
}

// variables returns what the server needs in its environment, without API keys.
func (s environment) variables() []string {
	all := []string{tokenVariable + "=" + s.Token}

	if s.Prometheus != "" {
		all = append(all, "PROMETHEUS_URL="+s.Prometheus)
	}

	if s.Kubeconfig != "" {
		path := s.Kubeconfig
		if absolute, err := filepath.Abs(path); err == nil {
			path = absolute
		}

		all = append(all, "KUBECONFIG="+path)
	}

	return all
}

func variablesText(found environment) string {
	var text strings.Builder

	fmt.Fprintf(&text, "# Environment of the TARSy server, written by tarsy init. Keep it secret.\n")
	fmt.Fprintf(&text, "# The server also needs the API key of its LLM provider, %s.\n", found.KeyVariable)

	for _, entry := range found.variables() {
		name, value, _ := strings.Cut(entry, "=")
		fmt.Fprintf(&text, "%s=%s\n", name, quoteForShell(value))
	}

	return text.String()
}

// quoteForShell leaves plain values unquoted, so that programs other than shells can read them too.
func quoteForShell(value string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@,+="
	if strings.Trim(value, plain) == "" {
		return value
	}

	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

// receiverToken returns the token that Alertmanager already uses, or a new one.
func (f *initFlags) receiverToken(files initFiles) (string, error) {
	if token, ok := f.variable(tokenVariable); ok {
		return token, nil
	}

	earlier, err := os.ReadFile(files.variables())
	if errors.Is(err, os.ErrNotExist) {
		return rand.Text(), nil
	}

	if err != nil {
		return "", fmt.Errorf("read the earlier token: %w", err)
	}

	for _, entry := range writtenVariables(string(earlier)) {
		if token, ok := strings.CutPrefix(entry, tokenVariable+"="); ok && token != "" {
			return token, nil
		}
	}

	return rand.Text(), nil
}
