package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

// probe is the result of one check of a deployment.
type probe struct {
	Check      string `json:"check"`
	OK         bool   `json:"ok"`
	Found      string `json:"found"`
	DurationMS int64  `json:"duration_ms"`
}

// smokeCheck is one check.
type smokeCheck struct {
	name string
	run  func() (string, error)
}

func smokeCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "smoke", Short: "Check a deployment without changing anything", GroupID: groupHelp, Args: namedArgs,
		Long: `Checks that a running server is alive and ready, that it refuses requests without an API key if it requires one, that the given key works,
and that the lists of sessions, notes, entities, review items and projects have their documented form. It only reads. It
exits with code 1 if a check fails. With --ready it only checks that the server is alive and ready, which needs no key: use it as the health
check of a container.`,
		Example: "  tarsy smoke --server https://tarsy.example\n  tarsy smoke --server https://tarsy.example -o json\n  tarsy smoke --ready",
	}
	r := newRemote(t, cmd)

	var readyOnly bool

	cmd.Flags().BoolVar(&readyOnly, "ready", false, "check only that the server is alive and ready")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		probes, err := smokeTest(cmd.Context(), r.connection, readyOnly)
		if err != nil {
			return err
		}

		return showProbes(r, probes)
	}

	return cmd
}

func smokeTest(ctx context.Context, connection *connection, readyOnly bool) ([]probe, error) {
	c, err := connection.open()
	if err != nil {
		return nil, err
	}
	defer c.Close()

	anybody, err := connection.openWith("")
	if err != nil {
		return nil, err
	}
	defer anybody.Close()

	checks := []smokeCheck{
		{"alive", func() (string, error) { return "", statusOK(ctx, anybody, "/livez") }},
		{"ready", func() (string, error) { return "", statusOK(ctx, anybody, "/readyz") }},
	}
	more := []smokeCheck{
		{"health", func() (string, error) { return checkHealth(ctx, c) }},
		{"authentication", func() (string, error) { return checkAuthentication(ctx, c, anybody) }},
		{"sessions", func() (string, error) { return checkList(ctx, c, "sessions", "sessions") }},
		{"notes", func() (string, error) { return checkList(ctx, c, "notes", "notes", "total") }},
		{"entities", func() (string, error) { return checkList(ctx, c, "entities", "entities", "total") }},
		{"review", func() (string, error) { return checkList(ctx, c, "review", "items", "total", "open_count") }},
		{"projects", func() (string, error) { return checkList(ctx, c, "projects", "projects", "total") }},
	}

	if !readyOnly {
		checks = append(checks, more...)
	}

	probes := make([]probe, 0, len(checks))

	for _, check := range checks {
		begin := time.Now()
		found, err := check.run()

		if ctx.Err() != nil {
			return nil, ctx.Err()
		}

		if err != nil {
			_, found = explain(ctx, err)
		}

		probes = append(probes, probe{Check: check.name, OK: err == nil, Found: found, DurationMS: time.Since(begin).Milliseconds()})
	}

	return probes, nil
}

var (
	errNotOK    = errors.New("the status is not ok")
	errOpen     = errors.New("a request without an API key was answered, although keys are required")
	errNoKey    = errors.New("the server requires an API key; set it with --token or TARSY_TOKEN")
	errKey      = errors.New("the API key is not valid")
	errNotShape = errors.New("the response does not have the documented form")
)

// object sends a GET request and returns the fields of the answer, undecoded.
func object(ctx context.Context, c *client.Client, path string, query url.Values) (map[string]json.RawMessage, error) {
	return client.Call(ctx, c, client.Operation[url.Values, map[string]json.RawMessage]("GET "+path), query)
}

func statusOK(ctx context.Context, c *client.Client, path string) error {
	body, err := object(ctx, c, path, nil)
	if err == nil && string(body["status"]) != `"ok"` {
		return errNotOK
	}

	return err
}

func checkHealth(ctx context.Context, c *client.Client) (string, error) {
	health, err := client.Call(ctx, c, client.Health, nil)
	if err != nil {
		return "", err
	}

	if health.Status == "" || health.ServerID == "" {
		return "", errNotShape
	}

	found := []string{fmt.Sprintf("%s, version %s", health.Status, health.Version)}
	for _, w := range health.Warnings {
		found = append(found, w.Message)
	}

	return strings.Join(found, "; "), nil
}

// checkAuthentication checks that a server that requires keys rejects requests without one and accepts the given key.
func checkAuthentication(ctx context.Context, c, anybody *client.Client) (string, error) {
	who, err := object(ctx, anybody, "/api/v1/me", nil)
	if err != nil {
		return "", err
	}

	var required bool

	if json.Unmarshal(who["auth_required"], &required) != nil {
		return "", errNotShape
	}

	if !required {
		return "no API key is required", nil
	}

	_, err = object(ctx, anybody, "/api/v1/sessions", url.Values{"limit": {"1"}})

	problem, refused := errors.AsType[*client.Problem](err)
	switch {
	case err == nil:
		return "", errOpen
	case !refused || problem.Status != http.StatusUnauthorized:
		return "", err
	}

	me, err := object(ctx, c, "/api/v1/me", nil)
	if err != nil {
		return "", err
	}

	if string(me["authenticated"]) == "true" {
		return "requests without a key are refused, the key works", nil
	}

	if c.Anonymous() {
		return "", errNoKey
	}

	return "", errKey
}

// checkList checks the shape of a list: objects with an id, and the numbers beside them.
func checkList(ctx context.Context, c *client.Client, path, field string, numbers ...string) (string, error) {
	body, err := object(ctx, c, "/api/v1/"+path, url.Values{"limit": {"1"}})
	if err != nil {
		return "", err
	}

	var rows []struct {
		ID string `json:"id"`
	}

	if body[field] == nil || json.Unmarshal(body[field], &rows) != nil || rows == nil {
		return "", fmt.Errorf("%w: %s is not a list of objects", errNotShape, field)
	}

	for _, row := range rows {
		if row.ID == "" {
			return "", fmt.Errorf("%w: an entry of %s has no id", errNotShape, field)
		}
	}

	counts := make([]string, 0, len(numbers))

	for _, name := range numbers {
		var number int
		if body[name] == nil || json.Unmarshal(body[name], &number) != nil {
			return "", fmt.Errorf("%w: %s is not a number", errNotShape, name)
		}

		counts = append(counts, fmt.Sprintf("%s %d", name, number))
	}

	return strings.Join(counts, ", "), nil
}

func showProbes(r *remote, probes []probe) error {
	failed := false
	rows := make([][]string, len(probes))

	for i, p := range probes {
		failed = failed || !p.OK
		result := findingOK

		if !p.OK {
			result = findingFailed
		}

		rows[i] = []string{result, p.Check, fmt.Sprintf("%d ms", p.DurationMS), p.Found}
	}

	style := func(cell string) terminal.Style {
		if cell == findingOK {
			return terminal.Green
		}

		return terminal.Red
	}

	var err error
	if r.json() {
		err = r.printJSON(probes)
	} else {
		err = r.table([]column{{name: "RESULT", style: style}, {name: "CHECK"}, {name: "TIME"}, {name: "FOUND"}}, rows)
	}

	if err == nil && failed {
		return errShown
	}

	return err
}

// findingFailed is the result of a failed check.
const findingFailed = "failed"
