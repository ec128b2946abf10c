package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/mask"
)

// bundleLimit bounds the time for each part that is read over the network.
const bundleLimit = 30 * time.Second

// maxProfile bounds how much of a profile is read.
const maxProfile = 8 << 20

func supportBundleCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "support-bundle", Short: "Collect what is needed to find the cause of a problem, without secrets", GroupID: groupHelp, Args: namedArgs,
		Long: `Writes a .tar.gz with the versions, the configuration with secrets hidden, the names of environment variables, the diagnostics and metrics of
a running server, its goroutines if its administrative listener is reachable, and the findings of tarsy doctor. All of it is
checked for secrets, and found ones are masked; read it before you share it. The diagnostics need an API key with the scope admin.

If the server cannot be reached, the bundle has the rest. manifest.json lists what is missing and why. The path of the file is printed.`,
		Example: "  tarsy support-bundle\n  tarsy support-bundle --server https://tarsy.example -o problem.tar.gz\n  tarsy support-bundle --config-dir ./config --admin-listen 127.0.0.1:9090",
	}
	flags := newServerFlags(t, cmd, "tarsy", "warn").configured(cmd)
	connection := connectionFlags(cmd)

	var file string

	cmd.Flags().StringVarP(&file, "output", "o", "", "file to write; by default tarsy-support-TIME.tar.gz in the current directory")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		now := time.Now().UTC()
		if file == "" {
			file = now.Format("tarsy-support-20060102-150405.tar.gz")
		}

		b, err := newBundle(t, flags, now)
		if err != nil {
			return err
		}

		collectServer(cmd.Context(), t, b, connection)
		collectLocal(cmd.Context(), t, b, flags)

		if cmd.Context().Err() != nil {
			return context.Cause(cmd.Context())
		}

		if err := b.write(file); err != nil {
			return fmt.Errorf("write the bundle: %w", err)
		}

		if n := len(b.manifest.Missing); n > 0 {
			t.infof("warning: %d parts are missing; manifest.json has the reasons", n)
		}

		return t.printf("%s\n", file)
	}

	return cmd
}

// bundle is the collected material. Every part is masked when it is added.
type bundle struct {
	masker   *mask.Masker
	names    []string
	parts    map[string][]byte
	manifest manifest
}

// manifest lists the contents of a bundle.
type manifest struct {
	CreatedAt time.Time     `json:"created_at"`
	Version   string        `json:"version"`
	GoVersion string        `json:"go_version"`
	Platform  string        `json:"platform"`
	Server    string        `json:"server"`
	Files     []string      `json:"files"`
	Missing   []missingPart `json:"missing"`
}

type missingPart struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// newBundle creates a bundle that masks whatever looks like a secret, and the values of secrets in the configuration and the environment.
func newBundle(t *tool, f *serverFlags, now time.Time) (*bundle, error) {
	rules := mask.Config{Default: mask.DefaultRules()}

	// doctor reports a configuration that does not load.
	if cfg, err := f.load(); err == nil {
		rules.Secrets = cfg.Secrets(t.lookup)
	}

	for _, entry := range t.Env {
		if name, value, _ := strings.Cut(entry, "="); isSecretName(name) {
			rules.Secrets = append(rules.Secrets, value)
		}
	}

	masker, err := mask.New(rules)
	if err != nil {
		return nil, fmt.Errorf("prepare the masking: %w", err)
	}

	return &bundle{masker: masker, parts: map[string][]byte{}, manifest: manifest{
		CreatedAt: now, Version: buildVersion().Version, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Files: []string{}, Missing: []missingPart{},
	}}, nil
}

// isSecretName reports whether the value of a variable is masked wherever it appears.
func isSecretName(name string) bool {
	return slices.ContainsFunc([]string{"TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"}, func(part string) bool {
		return strings.Contains(strings.ToUpper(name), part)
	})
}

// add masks and adds a part. It leaves out a part that cannot be checked for secrets.
func (b *bundle) add(name string, content []byte) {
	masked, err := b.masked(content)
	if err != nil {
		b.miss(name, errors.New("it could not be checked for secrets"))

		return
	}

	b.names = append(b.names, name)
	b.parts[name] = masked
}

// addJSON adds a value. Its strings are masked one by one, unescaped, and then again as part of the file.
func (b *bundle) addJSON(name string, value any) {
	raw, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(raw, &value)
	}

	if err == nil {
		value, err = b.maskedTexts(value)
	}

	if err == nil {
		raw, err = json.MarshalIndent(value, "", "  ")
	}

	if err != nil {
		b.miss(name, err)

		return
	}

	b.add(name, append(raw, '\n'))
}

func (b *bundle) maskedTexts(value any) (any, error) {
	var err error

	switch v := value.(type) {
	case string:
		return b.masker.Result("", v)
	case []any:
		for i := range v {
			if v[i], err = b.maskedTexts(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range v {
			if v[key], err = b.maskedTexts(v[key]); err != nil {
				return nil, err
			}
		}
	}

	return value, nil
}

func (b *bundle) masked(content []byte) ([]byte, error) {
	text, err := b.masker.Result("", string(content))

	return []byte(text), err
}

// miss records a part that could not be collected.
func (b *bundle) miss(name string, err error) {
	reason, failed := b.masker.Result("", line(err))
	if failed != nil {
		reason = "the reason could not be checked for secrets"
	}

	b.manifest.Missing = append(b.manifest.Missing, missingPart{File: name, Reason: reason})
}

// write writes the bundle to a file that only its owner can read.
func (b *bundle) write(path string) error {
	b.manifest.Files = b.names

	raw, err := json.MarshalIndent(b.manifest, "", "  ")
	if err != nil {
		return err
	}

	var packed bytes.Buffer

	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	b.parts["manifest.json"] = append(raw, '\n')

	for _, name := range append([]string{"manifest.json"}, b.names...) {
		header := &tar.Header{Name: "tarsy-support/" + name, Mode: 0o600, Size: int64(len(b.parts[name])), ModTime: b.manifest.CreatedAt}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}

		if _, err := archive.Write(b.parts[name]); err != nil {
			return err
		}
	}

	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		return err
	}

	return os.WriteFile(path, packed.Bytes(), 0o600)
}

// collectServer adds the answers of a running server.
func collectServer(ctx context.Context, t *tool, b *bundle, connection *connection) {
	parts := []struct{ name, path string }{
		{"configuration.json", "/api/v1/system/config"}, {"diagnostics.json", "/api/v1/system/diagnostics"}, {"metrics.txt", "/metrics"},
	}

	c, err := connection.open()
	if err != nil {
		for _, part := range parts {
			b.miss(part.name, err)
		}

		return
	}
	defer c.Close()

	b.manifest.Server = c.Server()

	for _, part := range parts {
		t.infof("Reading %s from %s", strings.TrimSuffix(strings.TrimSuffix(part.name, ".json"), ".txt"), c.Server())
		addAnswer(ctx, b, c, part.name, part.path)
	}
}

func addAnswer(ctx context.Context, b *bundle, c *client.Client, name, path string) {
	ctx, cancel := context.WithTimeout(ctx, bundleLimit)
	defer cancel()

	raw, err := c.Document(ctx, path)
	if err != nil {
		b.miss(name, err)

		return
	}

	if strings.HasSuffix(name, ".json") {
		b.addJSON(name, json.RawMessage(raw))

		return
	}

	b.add(name, raw)
}

// collectLocal adds what is available without a server.
func collectLocal(ctx context.Context, t *tool, b *bundle, f *serverFlags) {
	names := make([]string, 0, len(t.Env))
	for _, entry := range t.Env {
		name, _, _ := strings.Cut(entry, "=")
		names = append(names, name)
	}

	slices.Sort(names)
	b.add("environment.txt", []byte(strings.Join(slices.Compact(names), "\n")+"\n"))

	t.infof("Checking this machine, as tarsy doctor does")

	b.addJSON("doctor.json", append(f.checkMachine(ctx), f.checkConfiguration(ctx, false)...))

	cfg, err := f.load()
	if err != nil {
		b.miss("configuration-local.json", err)
		b.miss("goroutines.txt", errNoAdminListener)

		return
	}

	settings := f.settings()
	for _, v := range cfg.Origins() {
		settings = append(settings, setting(v))
	}

	b.addJSON("configuration-local.json", settings)
	addGoroutines(ctx, b, cfg)
}

var errNoAdminListener = errors.New("no administrative listener is configured; name it with --admin-listen")

// addGoroutines adds the goroutine stacks of a server on this machine, without arguments.
func addGoroutines(ctx context.Context, b *bundle, cfg *config.Config) {
	const name = "goroutines.txt"

	if cfg.System.AdminListen == "" {
		b.miss(name, errNoAdminListener)

		return
	}

	ctx, cancel := context.WithTimeout(ctx, bundleLimit)
	defer cancel()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+cfg.System.AdminListen+"/debug/pprof/goroutine?debug=1", http.NoBody)
	if err != nil {
		b.miss(name, err)

		return
	}

	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.miss(name, err)

		return
	}

	defer func() { _ = response.Body.Close() }()

	stacks, err := io.ReadAll(io.LimitReader(response.Body, maxProfile))
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New("the administrative listener answered " + response.Status)
	}

	if err != nil {
		b.miss(name, err)

		return
	}

	b.add(name, stacks)
}
