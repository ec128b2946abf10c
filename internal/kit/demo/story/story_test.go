package story_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/kit/demo/story"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// expectations is what a story must contain.
type expectations struct {
	agents []string
	// facts are claims of the analysis that the tools also showed; conclusions need not be in the tools' words.
	facts       []string
	conclusions []string
	summary     string
}

// failing is the story in which the model refuses in the end.
const failing = "leaked-token"

// stories returns the stories that end in an analysis.
func stories() map[string]expectations {
	return map[string]expectations{
		"slow-search": {
			agents: []string{"LogAnalyst", "ChangeAnalyst", "MetricsAnalyst"},
			facts: []string{
				"REINDEX_WORKERS", "pipeline 8836", "SHOP-4630", "08:51:37", "catalog-bot", "db_connections=16", "in_use=20/20", "2026-02-04",
			},
			conclusions: []string{"leaves customers 4 of 20 connections", "Set `REINDEX_WORKERS` back to 2"},
			summary:     "16 of the 20 database connections",
		},
		"oom-kill": {
			agents:      []string{"Investigator"},
			facts:       []string{"OOMKilled", "v2.31.0", "v2.30.4", "SHOP-4512", "PRICE_CACHE_MAX_ENTRIES", "205", "214 MiB", "cart-redis"},
			conclusions: []string{"neither a maximum size nor an expiry", "Roll back to v2.30.4 now"},
			summary:     "cache without a limit",
		},
		"crash-loop": {
			agents:      []string{"Investigator", "Remediator"},
			facts:       []string{"payments-db.paymnets.svc.cluster.local", "no such host", "8841", "v1.18.4", "09:12:40", "payments-db-0"},
			conclusions: []string{"misspelled the namespace in the host name", "Do not run `rollout undo`"},
			summary:     "misspelled the database host",
		},
		"expiring-certificate": {
			agents:      []string{"Investigator"},
			facts:       []string{"nginx-old", "PLAT-2207", "08:10", "letsencrypt-prod", "wrong status code '404', expected '200'"},
			conclusions: []string{"retired", "no\ncontroller takes up the solver's ingress"},
			summary:     "nginx-old",
		},
		"false-alarm": {
			agents:      []string{"Investigator"},
			facts:       []string{"3.9", "14 nights", "cpu_bound=true", "failed=0", "02:00", "03:43"},
			conclusions: []string{"Nothing is broken and nobody needs to act", "false alarm"},
			summary:     "False alarm",
		},
		"pod-not-ready": {
			agents:      []string{"Investigator"},
			facts:       []string{"node-f", "09:20:31", "09:21:15", "pool=media", "node.kubernetes.io/unreachable"},
			conclusions: []string{"Nothing is wrong with `media-api` itself", "Not settled here"},
			summary:     "the only node that may run them",
		},
		"node-down": {
			agents:      []string{"Investigator"},
			facts:       []string{"node-f", "no space left on device", "v1.9.0", "MEDIA-311", "PLAT-2251", "2026-03-12", "pool=media"},
			conclusions: []string{"The alerts have one cause", "Roll `image-resizer` back first", "**Not proven:**"},
			summary:     "All alerts of the storm have one cause",
		},
	}
}

// investigated returns the alerts whose stories end in an analysis.
func investigated(t *testing.T) []example {
	t.Helper()

	return slices.DeleteFunc(examples(t), func(a example) bool { return a.Name == failing })
}

func TestEveryStoryEndsInAnalysisWithRootCause(t *testing.T) {
	t.Parallel()

	require.Len(t, investigated(t), len(stories()))

	for name, want := range stories() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			client, session := story.Client(script.Pace{}), connect(t)
			about := exampleOf(t, name)

			var (
				earlier string
				first   played
			)

			if name == team {
				first = playTeam(t, client, session, prompt(about, ""), want.agents)
				earlier = first.result
				want.agents = nil

				requireWellWritten(t, first)
			}

			for i, agent := range want.agents {
				stage := play(t, client, session, agent, prompt(about, earlier))
				requireWellWritten(t, stage)

				earlier = "## What the stage before found\n\n" + stage.result

				if i == 0 {
					first = stage
				}
			}

			for _, fact := range want.facts {
				require.Contains(t, first.result, fact)
				require.Contains(t, first.seen, fact, "the analysis claims what no tool has shown")
			}

			for _, conclusion := range want.conclusions {
				require.Contains(t, first.result, conclusion)
			}

			for _, detail := range details(first.result) {
				require.Contains(t, about.Data+first.seen, detail, "neither the alert nor a tool has shown %s", detail)
			}

			require.NotContains(t, first.tools, "rollout_restart", "stories only read")

			if name != team {
				require.GreaterOrEqual(t, len(first.turns), 4)
				require.LessOrEqual(t, len(first.turns), 6)
			}

			summary := generate(t, client, &llm.Request{
				Agent: "ExecSummaryAgent", Purpose: string(tarsy.InteractionExecutiveSummary),
				Messages: []llm.Message{{Role: llm.RoleUser, Content: "Summarise:\n\n" + earlier}},
			})
			require.Contains(t, summary.Text, want.summary)
			require.LessOrEqual(t, strings.Count(summary.Text, ". ")+1, 4, "at most four sentences")
		})
	}
}

// details returns the claims of an analysis that cannot be right by chance: times of day, versions, tickets, long numbers.
func details(analysis string) []string {
	analysis = regexp.MustCompile(`(\d),(\d{3})`).ReplaceAllString(analysis, "$1$2")

	return regexp.MustCompile(`\b(\d\d:\d\d(:\d\d)?|v\d+\.\d+\.\d+|[A-Z]{3,}-\d{3,}|\d{4,})\b`).FindAllString(analysis, -1)
}

// requireWellWritten checks the form that every stage of a story has.
func requireWellWritten(t *testing.T, stage played) {
	t.Helper()

	for i, turn := range stage.turns {
		require.NotEmpty(t, turn.Thinking, "turn %d", i)
		require.LessOrEqual(t, len(turn.ToolCalls), 2, "turn %d", i)
	}

	rest := stage.result
	for _, heading := range []string{"# ", "## Summary", "## Evidence", "## Root cause", "## Impact", "## Recommended actions"} {
		_, after, ok := strings.Cut(rest, heading)
		require.True(t, ok, "%q is missing or out of order", heading)

		rest = after
	}

	lines := 0

	for line := range strings.Lines(stage.result) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}

	require.GreaterOrEqual(t, lines, 25)
	require.LessOrEqual(t, lines, 45)
}

func TestStoryResumesWithNewClient(t *testing.T) {
	t.Parallel()

	session := connect(t)
	whole := play(t, story.Client(script.Pace{}), session, "Investigator", prompt(exampleOf(t, "oom-kill"), ""))
	bound := tools(t, session)

	turn := 0

	for n, message := range whole.messages {
		if message.Role != llm.RoleAssistant {
			continue
		}

		again := generate(t, story.Client(script.Pace{}), &llm.Request{
			Agent: "Investigator", Purpose: string(tarsy.InteractionIteration), Messages: whole.messages[:n], Tools: bound,
		})
		require.Equal(t, whole.turns[turn], again, "turn %d", turn)

		turn++
	}

	require.Len(t, whole.turns, turn)
}

// team is the story that several agents play in parallel.
const team = "slow-search"

// playTeam runs agents that know nothing of each other, and the agent that merges their analyses.
func playTeam(t *testing.T, client llm.Client, session *mcp.ClientSession, user string, agents []string) played {
	t.Helper()

	whole := played{calls: map[string]string{}}

	for i, agent := range agents {
		part := playAs(t, client, session, agent, user, 1, i+1)
		requireRightMarks(t, part.result, user, part.calls)
		maps.Copy(whole.calls, part.calls)
		require.Contains(t, part.result, "## What I could not see")
		require.LessOrEqual(t, len(part.turns), 5)

		for _, detail := range details(part.result) {
			require.Contains(t, user+part.seen, detail, "neither the alert nor a tool has shown %s to %s", detail, agent)
		}

		whole.tools = append(whole.tools, part.tools...)
		whole.seen += part.seen
		user += "\n\n### Agent: " + agent + "\n\n" + part.result
	}

	said := generate(t, client, &llm.Request{
		Agent: "SynthesisAgent", Purpose: string(tarsy.InteractionSynthesis), Messages: []llm.Message{{Role: llm.RoleUser, Content: user}},
	})
	require.Empty(t, said.ToolCalls)

	whole.result, whole.turns = said.Text, []llm.Response{said}

	return whole
}

func TestConcurrentSessionsPlayTheirOwnStories(t *testing.T) {
	t.Parallel()

	client := story.Client(script.Pace{})

	for name, want := range stories() {
		for i := range 3 {
			t.Run(fmt.Sprintf("%s %d", name, i), func(t *testing.T) {
				t.Parallel()

				user := prompt(exampleOf(t, name), "")

				stage := play(t, client, connect(t), want.agents[0], user)
				if name == team {
					stage = playTeam(t, client, connect(t), user, want.agents)
				}

				require.Contains(t, stage.result, want.conclusions[0])
			})
		}
	}
}

func TestAlertIsRecognisedInAnyJSONFormatting(t *testing.T) {
	t.Parallel()

	about := exampleOf(t, "oom-kill")

	var parsed any
	require.NoError(t, json.Unmarshal([]byte(about.Data), &parsed), "an Alertmanager payload is JSON")

	compact, err := json.Marshal(parsed)
	require.NoError(t, err)

	about.Data = string(compact)
	require.Contains(t, play(t, story.Client(script.Pace{}), connect(t), "Investigator", prompt(about, "")).result, "price cache")
}

func TestSameAlertForAnotherWorkloadMatchesNoStory(t *testing.T) {
	t.Parallel()

	for _, about := range examples(t) {
		t.Run(about.Name, func(t *testing.T) {
			t.Parallel()

			for _, workload := range []string{"checkout", "payments-api", "ingress-tls", "batch-reports", "catalog-search", "media"} {
				about.Data = strings.ReplaceAll(about.Data, workload, "inventory")
			}

			about.Runbook = ""
			require.Contains(t, play(t, story.Client(script.Pace{}), connect(t), "Investigator", prompt(about, "")).result, "does not know")
		})
	}
}

func TestToolOutputDoesNotSelectStory(t *testing.T) {
	t.Parallel()

	response := generate(t, story.Client(script.Pace{}), &llm.Request{
		Agent: "Investigator", Purpose: string(tarsy.InteractionIteration), Messages: []llm.Message{
			{Role: llm.RoleUser, Content: "the coffee machine is on fire"},
			{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "call_1", Name: "cluster__list_namespaces"}}},
			{Role: llm.RoleTool, ToolCallID: "call_1", Content: exampleOf(t, "oom-kill").Data},
		},
	})
	require.Contains(t, response.Text, "does not know")
}

func TestUnknownAlertGetsOneCallAndHonestAnswer(t *testing.T) {
	t.Parallel()

	client := story.Client(script.Pace{})
	stage := play(t, client, connect(t), "Investigator", "the coffee machine is on fire")
	require.Equal(t, []string{"list_namespaces"}, stage.tools)
	require.Contains(t, stage.result, "This demo's model is a script; it knows only the demo's own alerts")

	for _, about := range examples(t) {
		require.Contains(t, stage.result, "`"+about.AlertType+"`")
	}

	summary := generate(t, client, &llm.Request{
		Purpose: string(tarsy.InteractionExecutiveSummary), Messages: []llm.Message{{Role: llm.RoleUser, Content: stage.result}},
	})
	require.Contains(t, summary.Text, "was not investigated")

	again := generate(t, client, &llm.Request{Purpose: string(tarsy.InteractionIteration), Messages: stage.messages})
	require.Contains(t, again.Text, "nothing to add")
}

func TestForcedConclusionNamesItsEvidence(t *testing.T) {
	t.Parallel()

	session, client := connect(t), story.Client(script.Pace{})

	for _, about := range investigated(t) {
		stage := play(t, client, session, "Investigator", prompt(about, ""))
		forced := func(messages []llm.Message) llm.Response {
			return generate(t, client, &llm.Request{
				Agent: "Investigator", Purpose: string(tarsy.InteractionForcedConclusion),
				Messages: append(slices.Clip(messages), llm.Message{Role: llm.RoleUser, Content: "Conclude now."}),
			})
		}

		early := forced(stage.messages[:3])
		require.Empty(t, early.ToolCalls)
		require.Contains(t, early.Text, "Concluded early, after 1 of")
		require.Contains(t, early.Text, "## Recommended actions")

		late := forced(stage.messages[:len(stage.messages)-1])
		require.Equal(t, stage.result, late.Text, "with all evidence read, the conclusion is the analysis")
	}
}

func TestStoryWithoutToolsConcludesWithoutCalls(t *testing.T) {
	t.Parallel()

	for _, about := range examples(t) {
		response := generate(t, story.Client(script.Pace{}), &llm.Request{
			Agent: "Investigator", Purpose: string(tarsy.InteractionIteration),
			Messages: []llm.Message{{Role: llm.RoleUser, Content: prompt(about, "")}},
		})
		require.Empty(t, response.ToolCalls)
		require.Contains(t, response.Text, "Concluded early, after 0 of")
	}
}

func TestConfigStartsClusterAndAcceptsEveryAlertType(t *testing.T) {
	t.Parallel()

	command := `C:\Program Files\"tarsy"`
	loaded, err := config.Load(config.Source{Files: []config.File{
		{Name: "demo.yaml", Text: story.Config(command, "demo-cluster", "--quiet")},
	}})
	require.NoError(t, err)
	chains := chain.NewCatalog(loaded)
	require.Empty(t, chains.Warnings())

	transport := loaded.MCPServers["cluster"].Transport
	require.Equal(t, config.TransportStdio, transport.Type)
	require.Equal(t, command, transport.Command)
	require.Equal(t, []string{"demo-cluster", "--quiet"}, transport.Args)
	require.Equal(t, config.ProviderScripted, loaded.LLMProviders[loaded.Defaults.LLMProvider].Type)

	types := map[string]bool{}

	for _, about := range examples(t) {
		configured, ok := loaded.ChainFor(about.AlertType)
		require.True(t, ok, about.AlertType)

		types[about.AlertType] = true

		var agents []string

		for _, stage := range configured.Stages {
			for _, agent := range stage.Agents {
				agents = append(agents, agent.Name)
				require.Equal(t, []string{"cluster"}, loaded.Agents[agent.Name].MCPServers)
			}
		}

		if about.Name != failing {
			require.Equal(t, stories()[about.Name].agents, agents, about.Name)
		}

		resolved, ok := chains.Chain(configured.ID)
		require.True(t, ok)
		require.NotNil(t, resolved.Chat, "%s takes no questions", configured.ID)
		require.Equal(t, "ChatAgent", resolved.Chat.Spec.Name)
		require.Equal(t, []tarsy.MCPServerSelection{{Name: "cluster"}}, resolved.Chat.Servers)
		require.NotEmpty(t, about.Runbook)
	}

	fallback, ok := loaded.ChainFor(loaded.Defaults.AlertType)
	require.True(t, ok)
	require.Equal(t, "demo-investigation", fallback.ID, "an alert of no type is investigated by the demo's agents")
	require.Len(t, loaded.AlertTypes(), len(types)+1, "no chain is left that needs more than the demo has")
}
