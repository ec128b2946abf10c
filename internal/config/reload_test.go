package config_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/schema"
)

const running = `
system:
  max_connections: 100
  budgets: {daily: {max_cost_usd: 20}}
queue: {worker_count: 4, heartbeat_interval: 4s}
defaults: {max_iterations: 10, llm_provider: gateway}
agents:
  Plain: {}
  Investigator:
    custom_instructions: Look.
    mcp_servers: [files, metrics]
agent_chains:
  checks:
    alert_types: [check, probe]
    stages: [{name: look, agents: [{name: Investigator}, {name: Plain}]}]
mcp_servers:
  files: {transport: {type: http, url: "http://files/mcp", bearer_token: "first-token-value"}}
  metrics: {transport: {type: stdio, command: metrics, args: [--token, "first-arg-value"]}}
llm_providers:
  gateway: {type: openai, model: small, base_url: "http://gateway/v1", headers: {X-Key: "{{.GATEWAY_KEY}}"}}
alerts:
  write_back: {hook: {type: webhook, url: "https://example.com/first-path"}}
`

const changed = `
system:
  max_connections: 200
  budgets: {daily: {max_cost_usd: 10}, session: {max_tokens: 5000}}
queue: {worker_count: 8, heartbeat_interval: 6s}
defaults: {max_iterations: 10, llm_provider: gateway}
agents:
  Other: {}
  Investigator:
    custom_instructions: Look closely.
    mcp_servers: [files]
    native_tools: {google_search: false}
agent_chains:
  checks:
    alert_types: [check]
    stages: [{name: look, agents: [{name: Investigator}]}]
mcp_servers:
  files: {transport: {type: http, url: "http://files/mcp", bearer_token: "second-token-value"}}
llm_providers:
  gateway: {type: openai, model: large, base_url: "http://gateway/v1", headers: {X-Key: "{{.GATEWAY_KEY}}"}}
alerts:
  write_back: {hook: {type: webhook, url: "https://example.com/second-path"}}
`

func TestReloadShowsEveryDifferenceWithoutSecrets(t *testing.T) {
	t.Parallel()
	before := mustLoad(t, running, map[string]string{"GATEWAY_KEY": "first-key-value"})
	fresh := mustLoad(t, changed, map[string]string{"GATEWAY_KEY": "second-key-value"})
	_, changes, err := before.Reload(fresh)
	require.NoError(t, err)
	var out strings.Builder
	for _, c := range changes {
		out.WriteString(c.String() + "\n")
	}
	for _, secret := range []string{"token-value", "key-value", "arg-value", "-path"} {
		require.NotContains(t, out.String(), secret)
	}
	golden(t, filepath.Join("testdata", "reload.changes"), out.String())
}

func TestReloadOfSameFilesHasNoChanges(t *testing.T) {
	t.Parallel()
	key := map[string]string{"GATEWAY_KEY": "key-value"}
	// The place of a value, and whether a built-in value is written out, are not differences.
	for _, text := range []string{running, "\n\n" + running, strings.Replace(running, "worker_count: 4", "session_timeout: 40m, worker_count: 4", 1)} {
		_, changes, err := mustLoad(t, running, key).Reload(mustLoad(t, text, key))
		require.NoError(t, err)
		require.Empty(t, changes)
	}
}

func TestReloadKeepsWhatNeedsRestart(t *testing.T) {
	t.Parallel()
	key := map[string]string{"GATEWAY_KEY": "key-value"}
	next, _, err := mustLoad(t, running, key).Reload(mustLoad(t, changed, key))
	require.NoError(t, err)
	require.Equal(t, 100, next.System.MaxConnections)
	require.Equal(t, 4*time.Second, next.Queue.HeartbeatInterval)
	require.Equal(t, "https://example.com/first-path", next.Alerts.WriteBack["hook"].URL.Reveal())
	require.Equal(t, 8, next.Queue.WorkerCount)
	require.InDelta(t, 10, next.System.Budgets.Daily.MaxCostUSD, 0)

	// The files still differ, so the next reload reports them again.
	_, changes, err := next.Reload(mustLoad(t, changed, key))
	require.NoError(t, err)
	var paths []string
	for _, c := range changes {
		require.Equal(t, config.EffectRestart, c.TakesEffect, c.Path)
		paths = append(paths, c.Path)
	}
	require.Equal(t, []string{"system.max_connections", "queue.heartbeat_interval", "alerts.write_back.hook.url"}, paths)
}

func TestReloadHidesKeptValueFromVariable(t *testing.T) {
	t.Parallel()
	const text = `alerts: {write_back: {hook: {type: pagerduty, token_env: PD_TOKEN, from: "{{.SIGNATURE}}"}}}`
	before := mustLoad(t, text, map[string]string{"SIGNATURE": "s1gn4tur3-0f-h00k@example.com"})
	next, _, err := before.Reload(mustLoad(t, `queue: {worker_count: 8}`, nil))
	require.NoError(t, err)
	for _, v := range next.Origins() {
		require.NotContains(t, v.Value, "s1gn4tur3")
	}
	require.Equal(t, "s1gn4tur3-0f-h00k@example.com", next.Alerts.WriteBack["hook"].From)
	require.Contains(t, next.Secrets(env(nil)), "s1gn4tur3-0f-h00k@example.com")
}

func TestReloadRefusesFilesThatDoNotFitToKeptSettings(t *testing.T) {
	t.Parallel()
	const discord = `
agents: {A: {custom_instructions: Look.}}
system: {discord: {enabled: true, channel: "12345", submit: {alert_type: old}}}
agent_chains: {c: {alert_types: [old], stages: [{name: s, agents: [{name: A}]}]}}
`
	before := mustLoad(t, discord, nil)
	_, changes, err := before.Reload(mustLoad(t, strings.ReplaceAll(discord, "old", "new"), nil))
	require.ErrorContains(t, err, "system.discord.submit.alert_type")
	require.ErrorContains(t, err, "restart the server")
	require.NotEmpty(t, changes)
}

// A new key must be applied by a reload, or have the tag restart. Decide, then run the test with -update.
func TestEveryKeyDeclaresWhenChangesTakeEffect(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	var visit func(reflect.Type, string, schema.Field, bool)
	visit = func(kind reflect.Type, path string, f schema.Field, entry bool) {
		switch {
		case kind.Kind() == reflect.Pointer:
			visit(kind.Elem(), path, f, entry)
		case kind.Kind() == reflect.Map:
			visit(kind.Elem(), path+".*", f, true)
		case kind.Kind() == reflect.Slice && schema.IsSection(kind.Elem()):
			visit(kind.Elem(), path+"[]", f, true)
		case kind.Kind() == reflect.Struct:
			for _, below := range schema.FieldsOf(kind) {
				require.False(t, entry && below.Restart, "%s.%s: entries come and go as a whole, so the tag restart belongs to their section", path, below.Key)
				visit(kind.Field(below.Index).Type, strings.TrimPrefix(path+"."+below.Key, "."), below.Within(f), entry)
			}
		case f.Later == "true":
		default:
			effect := config.EffectImmediately
			switch {
			case f.Restart:
				effect = config.EffectRestart
			case f.Reload == "sessions":
				effect = config.EffectSessions
			default:
				require.Contains(t, []string{"", "now"}, f.Reload, path)
			}
			out.WriteString(path + ": " + effect + "\n")
		}
	}
	visit(reflect.TypeFor[config.Config](), "", schema.Field{}, false)
	golden(t, filepath.Join("testdata", "reload.keys"), out.String())
}

// The files of package app that a reload runs again. All its other files run once, at startup, and may read only keys with the tag restart.
var readByReload = []string{"settings.go", "mask.go", "mcp.go", "model.go", "system.go", "triage.go", "inbox.go"}

func TestKeyThatIsReadAtStartNeedsRestart(t *testing.T) {
	t.Parallel()
	sections, kept := sectionsByName()
	packages := listPackages(t)
	app := packages["tarsy.dev/tarsy/internal/app"]
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range app.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(app.Dir, name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
	exports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(packages[path].Export) })
	_, err := (&types.Config{Importer: exports}).Check(app.ImportPath, fset, files, info)
	require.NoError(t, err)
	reads := 0
	for selector, selection := range info.Selections {
		section, ok := sections[ownerOf(selection)]
		file := filepath.Base(fset.Position(selector.Pos()).Filename)
		if !ok || selection.Kind() != types.FieldVal || slices.Contains(readByReload, file) {
			continue
		}
		field, _ := section.FieldByName(selector.Sel.Name)
		name := section.Name() + "." + field.Name
		if key := field.Tag.Get("yaml"); key == "" || key == "-" || schema.IsSection(field.Type) && !kept[name] {
			continue // not a key, or a section whose fields are checked one by one
		}
		reads++
		require.True(t, kept[name], "internal/app/%s reads %s once: read it where a reload does, or give it the tag restart", file, name)
	}
	require.Greater(t, reads, 20)
}

// ownerOf returns the name of the configuration struct that a field is selected from.
func ownerOf(selection *types.Selection) string {
	owner := selection.Recv()
	if pointer, ok := owner.Underlying().(*types.Pointer); ok {
		owner = pointer.Elem()
	}
	if named, ok := owner.(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == configPackage {
		return named.Obj().Name()
	}
	return ""
}

// sectionsByName returns the structs of the configuration, and which of their fields need a restart, as Type.Field.
func sectionsByName() (map[string]reflect.Type, map[string]bool) {
	sections, kept := map[string]reflect.Type{}, map[string]bool{}
	var visit func(reflect.Type, schema.Field)
	visit = func(kind reflect.Type, around schema.Field) {
		for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Map || kind.Kind() == reflect.Slice {
			kind = kind.Elem()
		}
		if kind.Kind() != reflect.Struct {
			return
		}
		sections[kind.Name()] = kind
		for _, f := range schema.FieldsOf(kind) {
			below := f.Within(around)
			if below.Restart {
				kept[kind.Name()+"."+kind.Field(f.Index).Name] = true
			}
			visit(kind.Field(f.Index).Type, below)
		}
	}
	visit(reflect.TypeFor[config.Config](), schema.Field{})
	return sections, kept
}
