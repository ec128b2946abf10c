package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy/internal/config"
)

// prometheusTimeout limits how long Prometheus may take to answer init.
const prometheusTimeout = time.Second

// environment is what init knows about the environment of the server.
type environment struct {
	// Provider is a built-in LLM provider, and KeyVariable the variable of its key.
	Provider    string
	KeyVariable string
	KeySet      bool
	// Kubeconfig is the path of a file; empty if there is none.
	Kubeconfig string
	InCluster  bool
	// Prometheus is an address; empty if there is none.
	Prometheus        string
	PrometheusAnswers bool
	// URL is the address at which Alertmanager reaches the server.
	URL string
	// Token authenticates Alertmanager.
	Token string
}

// detect finds what it can without asking.
func (f *initFlags) detect(ctx context.Context) (environment, error) {
	builtin, err := config.Load(config.Source{Env: f.lookup})
	if err != nil {
		return environment{}, err
	}

	found := environment{
		Provider: builtin.Defaults.LLMProvider, KeySet: !builtin.LacksKey(), Kubeconfig: f.kubeconfig(), URL: f.url, Prometheus: f.prometheus,
	}
	found.KeyVariable = builtin.LLMProviders[found.Provider].APIKeyEnv
	_, found.InCluster = f.variable("KUBERNETES_SERVICE_HOST")
	found.PrometheusAnswers = prometheusAnswers(ctx, found.Prometheus)

	if !found.PrometheusAnswers && !f.given("prometheus") {
		found.Prometheus = "" // not given, and does not answer
	}

	if found.URL == "" {
		found.URL = "http://" + reachable(f.listen)
	}

	return found, nil
}

// reachable turns a listen address into one that can be called.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}

	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}

	return net.JoinHostPort(host, port)
}

// kubeconfig returns the file that kubectl would use.
func (f *initFlags) kubeconfig() string {
	listed, _ := f.variable("KUBECONFIG")
	paths := filepath.SplitList(listed)

	if home, ok := f.variable("HOME"); ok && len(paths) == 0 {
		paths = []string{filepath.Join(home, ".kube", "config")}
	}

	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
	}

	return ""
}

// prometheusAnswers reports whether Prometheus, or a server with its API, answers at an address.
func prometheusAnswers(ctx context.Context, address string) bool {
	if address == "" {
		return false
	}

	ctx, cancel := context.WithTimeout(ctx, prometheusTimeout)
	defer cancel()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(address, "/")+"/api/v1/query?query=1", nil)
	if err != nil {
		return false
	}

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer func() { _ = response.Body.Close() }()

	const longest = 1 << 16

	var answer struct {
		Status string `json:"status"`
	}

	err = json.NewDecoder(io.LimitReader(response.Body, longest)).Decode(&answer)

	return err == nil && answer.Status == "success"
}

// askMissing asks for what was not detected.
func (f *initFlags) askMissing(ctx context.Context, found *environment) error {
	ask := f.questions(ctx)

	if !found.KeySet {
		if err := f.askProvider(ask, found); err != nil {
			return err
		}
	}

	if found.Kubeconfig == "" && !found.InCluster {
		path, err := ask("Path of a kubeconfig (Enter for none): ")
		if err != nil {
			return err
		}

		found.Kubeconfig = path
	}

	if found.Prometheus == "" && !f.given("prometheus") {
		address, err := ask("Address of Prometheus, such as http://prometheus:9090 (Enter for none): ")
		if err != nil {
			return err
		}

		found.Prometheus, found.PrometheusAnswers = address, prometheusAnswers(ctx, address)
	}

	if f.url == "" {
		address, err := ask("Address at which Alertmanager reaches this server [" + found.URL + "]: ")
		if err != nil {
			return err
		}

		if address != "" {
			found.URL = address
		}
	}

	return nil
}

// askProvider asks which provider's key the user will set.
func (f *initFlags) askProvider(ask func(string) (string, error), found *environment) error {
	choices := config.DefaultProviders()

	var names []string
	for _, c := range choices {
		names = append(names, strings.TrimSuffix(c.Name, "-default"))
	}

	for {
		name, err := ask("No API key found. LLM provider (" + strings.Join(names, ", ") + ") [" + names[0] + "]: ")
		if err != nil {
			return err
		}

		if name == "" {
			name = names[0]
		}

		if i := slices.Index(names, strings.ToLower(name)); i >= 0 {
			found.Provider, found.KeyVariable = choices[i].Name, choices[i].APIKeyEnv

			return nil
		}

		f.infof("There is no provider %q.", name)
	}
}

var errInputEnded = errors.New("the input ended before every question was answered; use --yes to answer none")

// questions returns a function that asks one question at a time.
func (f *initFlags) questions(ctx context.Context) func(string) (string, error) {
	type line struct {
		text string
		err  error
	}

	reader := bufio.NewReader(f.Stdin)

	return func(question string) (string, error) {
		_, _ = fmt.Fprint(f.Stderr, question)
		answers := make(chan line, 1) // buffered: nobody receives the answer after Ctrl-C

		go func() {
			text, err := reader.ReadString('\n')
			answers <- line{text, err}
		}()

		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case answer := <-answers:
			if answer.err != nil {
				return "", errors.Join(errInputEnded, answer.err)
			}

			return strings.TrimSpace(answer.text), nil
		}
	}
}
