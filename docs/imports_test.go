package docs_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	slashpath "path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "tarsy.dev/tarsy"

// layer is a set of packages, which can import packages of earlier layers and of their own.
type layer struct {
	name string
	// Directories; "x/..." includes those below. An exact name takes precedence, then the first layer that matches.
	packages []string
}

// layers are in the order in which one would write the program. A package that is in none fails the test: add it to the
// first layer that allows all of its imports.
var layers = []layer{
	{"leaves, which know nothing of this program", []string{
		"deploy", "docs", "web", "internal/background", "internal/batch", "internal/calendar", "internal/certificate", "internal/cli/terminal", "internal/ident",
		"internal/licenses", "internal/release", "internal/limit", "internal/loopback", "internal/manual", "internal/mask/...", "internal/nearest", "internal/origin", "internal/plaintext", "internal/postgres/private",
		"internal/requestid", "internal/sse", "internal/schema", "internal/structured",
	}},
	{"the vocabulary, which does nothing", []string{".", "notebook"}},
	{"the test kit, which only tests and the commands mock and demo import", []string{
		"bench", "e2e", "examples/...", "flow/flowtest", "flow/journal/journaltest", "internal/kit/...", "internal/postgres/pgtest", "internal/postgres/storetest", "internal/tools/...", "llm/llmtest", "tarsytest",
	}},
	{"libraries, which other programs could use", []string{"flow/...", "llm/..."}},
	{"what alerts, sessions and people are, without a database", []string{
		"internal/alert/field", "internal/audit", "internal/auth", "internal/eventschema", "internal/match", "internal/metrics", "internal/notify/message", "internal/oidc",
		"internal/price", "internal/progress", "internal/quiet", "internal/report", "internal/runbook", "internal/telemetry",
	}},
	{"agents and their tools", []string{"internal/agent/...", "internal/mcp"}},
	{"the configuration, and what it decides", []string{"internal/alert", "internal/chain", "internal/config", "internal/engine/plan", "internal/inbox", "internal/provider"}},
	{"the database", []string{"internal/note/store", "internal/postgres/...", "internal/triage/store"}},
	{"what the product does", []string{
		"internal/discord", "internal/engine", "internal/jobs", "internal/note/...", "internal/notify/...", "internal/people", "internal/problem", "internal/retention", "internal/slack",
		"internal/stream", "internal/triage", "internal/writeback",
	}},
	{"how people and programs reach it", []string{"internal/api", "internal/cli/chat", "internal/cli/prompt", "internal/cli/watch", "internal/client/...", "internal/mcpserver", "internal/published"}},
	{"the program", []string{"cmd/tarsy", "internal/app", "internal/cli"}},
}

// kitLayer is the index of the test kit, which can import every layer and which only tests and kitUsers can import.
const kitLayer = 2

// kitUsers are the files of the product that may import the test kit.
var kitUsers = []string{"internal/cli/demo*.go", "internal/cli/mock*.go"}

// ban forbids imports that the layers of the packages would allow.
type ban struct {
	packages, imports []string
	reason            string
	tests             bool // also applies to tests
}

var bans = []ban{
	{
		packages: []string{"internal/agent/..."}, imports: []string{"internal/mcp", "net/http", "github.com/jackc/pgx/v5/..."},
		reason: "the loop of an agent declares its tools and its store, so that it can be tested and continued without them",
	},
	{
		packages: []string{"internal/engine/plan"}, imports: []string{"github.com/jackc/pgx/v5/...", "net/http", "time/tzdata", "sync"},
		reason: "what a session does next is a function of its state",
	},
	{
		packages: []string{"internal/engine"}, imports: []string{"internal/config", "internal/mcp", "net/http", "internal/notify/..."},
		reason: "sessions run from their stored recipe, and know neither HTTP nor notifications",
	},
	{
		packages: []string{"internal/chain", "internal/postgres", "internal/postgres/account", "internal/postgres/outbox"}, imports: []string{"net/http"},
		reason: "resolving chains and storing rows sends no requests",
	},
	{
		packages: []string{"internal/postgres/..."}, imports: []string{"internal/config", "internal/chain", "internal/agent/..."},
		reason: "the database stores what it is given",
	},
	{
		packages: []string{"internal/stream"}, imports: []string{"internal/api", "internal/auth", "internal/people", "internal/postgres/..."},
		reason: "the hub delivers; who may read is decided before",
	},
	{
		packages: []string{"internal/client", "internal/cli/watch", "internal/cli/chat", "internal/mcpserver"}, imports: []string{"internal/api", "internal/postgres/..."},
		reason: "clients know the API by its document",
	},
	{
		packages: []string{"internal/postgres"}, imports: []string{"internal/postgres/account", "internal/postgres/outbox"},
		reason: "the stores use the database, not the other way round",
	},
	{packages: []string{"internal/slack"}, imports: []string{"internal/discord", "internal/api"}, reason: "what channels have in common is in internal/notify"},
	{packages: []string{"internal/discord"}, imports: []string{"internal/slack", "internal/api"}, reason: "what channels have in common is in internal/notify"},
	{
		packages: []string{"llm/..."}, imports: []string{"flow/...", "internal/kit/mock/...", "internal/api", "internal/app", "internal/cli"}, tests: true,
		reason: "the mock server knows llm, so tests that need both belong to the mock",
	},
	{
		// The SDKs used to be most of the program's size and compile time, for one streamed request each. Now they only
		// check the mock server, as third-party clients.
		packages: []string{"..."}, imports: []string{"github.com/openai/openai-go/..."}, tests: true,
		reason: "only internal/kit/mock/openai/sdktest does, so that no other test compiles it and the race detector never does",
	},
	{
		packages: []string{"..."}, imports: []string{"github.com/anthropics/anthropic-sdk-go/..."}, tests: true,
		reason: "only internal/kit/mock/anthropic/sdktest does, so that no other test compiles it and the race detector never does",
	},
}

// exempt lists the packages that a ban does not apply to, with the banned import.
var exempt = map[string]string{
	"internal/kit/mock/openai/sdktest":    "github.com/openai/openai-go/...",
	"internal/kit/mock/anthropic/sdktest": "github.com/anthropics/anthropic-sdk-go/...",
}

type source struct {
	file, dir string
	test      bool
	imports   []string // those of this module without its path
}

func TestPackagesImportOnlyLowerLayers(t *testing.T) {
	t.Parallel()

	used := map[string]bool{}

	for _, s := range sources(t) {
		here, found := layerOf(s.dir, used)
		if !assert.True(t, found, "%s is in no layer of docs/imports_test.go", s.dir) || s.test || here == kitLayer {
			continue
		}

		for _, imported := range s.imports {
			there, ours := layerOf(imported, nil)
			switch {
			case !ours:
			case there == kitLayer:
				assert.True(t, slices.ContainsFunc(kitUsers, func(pattern string) bool {
					ok, err := slashpath.Match(pattern, s.file)
					return err == nil && ok
				}), "%s imports %s of the test kit, which only tests and %s may", s.file, imported, strings.Join(kitUsers, " and "))
			default:
				assert.LessOrEqual(t, there, here, "%s (%s) imports %s, which is above it (%s)", s.file, layers[here].name, imported, layers[there].name)
			}
		}
	}

	for _, l := range layers {
		for _, pattern := range l.packages {
			assert.True(t, used[pattern], "there is no package %s", pattern)
		}
	}
}

func TestBannedImportsDoNotOccur(t *testing.T) {
	t.Parallel()

	all := sources(t)

	for _, b := range bans {
		concerned := 0

		for _, s := range all {
			if s.test && !b.tests || !matches(b.packages, s.dir) || exempt[s.dir] == b.imports[0] {
				continue
			}

			concerned++

			for _, imported := range s.imports {
				assert.False(t, matches(b.imports, imported), "%s imports %s: %s", s.file, imported, b.reason)
			}
		}

		assert.NotZero(t, concerned, "no package is %v", b.packages)
	}

	for dir, sdk := range exempt {
		assert.True(t, slices.ContainsFunc(all, func(s source) bool {
			return s.dir == dir && slices.ContainsFunc(s.imports, func(imported string) bool { return matches([]string{sdk}, imported) })
		}), "%s does not import %s", dir, sdk)
	}
}

// layerOf returns the layer of a package of this module, and marks the pattern that matched as used.
func layerOf(dir string, used map[string]bool) (int, bool) {
	// The kit comes first: its packages are inside the directories that they test.
	order := []int{kitLayer}
	for i := range layers {
		if i != kitLayer {
			order = append(order, i)
		}
	}

	for _, exact := range []bool{true, false} {
		for _, i := range order {
			for _, pattern := range layers[i].packages {
				if strings.HasSuffix(pattern, "...") != exact && matches([]string{pattern}, dir) {
					if used != nil {
						used[pattern] = true
					}

					return i, true
				}
			}
		}
	}

	return 0, false
}

// matches reports whether one of the patterns matches a package.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		prefix, below := strings.CutSuffix(pattern, "...")
		if !below {
			return name == pattern
		}

		return strings.HasPrefix(name+"/", prefix)
	})
}

// sources returns the Go files of the module.
func sources(t *testing.T) []source {
	t.Helper()

	var all []source

	require.NoError(t, filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".."):
			return fs.SkipDir
		case entry.IsDir() && file == filepath.Join("..", "internal", "tools", "deploycheck"): // a separate module
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(file, ".go"):
			return nil
		}

		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}

		name, err := filepath.Rel("..", file)
		if err != nil {
			return err
		}

		name = filepath.ToSlash(name)
		s := source{file: name, dir: slashpath.Dir(name), test: strings.HasSuffix(name, "_test.go")}

		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}

			if imported == module {
				imported = "."
			}

			s.imports = append(s.imports, strings.TrimPrefix(imported, module+"/"))
		}

		all = append(all, s)

		return nil
	}))
	require.NotEmpty(t, all)

	return all
}
