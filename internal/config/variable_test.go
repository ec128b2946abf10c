package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// hostile returns values that would change the structure of a file if they were pasted into it.
func hostile() []string {
	return []string{
		"plain", "", "with space", "a: b", "a\nqueue: {worker_count: 99}", `"quoted"`, `it's`, "# no comment", "- item", "{x: y}", "[1, 2]",
		"*alias", "&anchor", "!tag", "| literal", "> folded", "@at", "`tick`", "%directive", "{{.OTHER}}", "tab\there", "ends with:", "\\n",
		"null", "true", "007", "ünï\u2028cödé", "\ue000\ue001.OTHER\ue001\ue000", "trailing  ", "'", "\"", "---",
	}
}

func TestVariableWorksAnywhereInScalar(t *testing.T) {
	t.Parallel()
	for name, scalar := range map[string]string{
		"unquoted": "{{.VAR}}", "with spaces": "{{ .VAR }}", "double-quoted": `"{{.VAR}}"`, "single-quoted": `'{{.VAR}}'`,
		"with a comment": "{{.VAR}} # {{.NOT_SET}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, value := range hostile() {
				c := mustLoad(t, "defaults:\n  runbook: "+scalar+"\n", map[string]string{"VAR": value, "OTHER": "other"})
				require.Equal(t, value, c.Defaults.Runbook)
				require.Equal(t, 5, c.Queue.WorkerCount)
			}
		})
	}
	for _, value := range hostile() {
		vars := map[string]string{"VAR": value, "OTHER": "other"}
		c := mustLoad(t, "defaults:\n  runbook: before {{.VAR}}/{{.VAR}} after\n", vars)
		require.Equal(t, "before "+value+"/"+value+" after", c.Defaults.Runbook)
		c = mustLoad(t, "defaults:\n  runbook: |\n    first\n    > {{.VAR}}\n    last\n", vars)
		require.Equal(t, "first\n> "+value+"\nlast\n", c.Defaults.Runbook)
		c = mustLoad(t, "system: {allowed_ws_origins: [{{.VAR}}, x{{.VAR}}]}\n", vars)
		require.Equal(t, []string{value, "x" + value}, c.System.AllowedWSOrigins)
	}
}

func TestVariableValueCannotChangeStructure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.String().Draw(rt, "value")
		c, err := load("defaults:\n  runbook: {{.VAR}}\n  alert_type: kubernetes\nqueue: {worker_count: 2}\n", map[string]string{"VAR": value})
		if err != nil {
			rt.Fatal(err)
		}
		if c.Defaults.Runbook != value || c.Queue.WorkerCount != 2 || c.Defaults.AlertType != "kubernetes" {
			rt.Fatalf("runbook %q", c.Defaults.Runbook)
		}
	})
}

func TestNumbersBoolsDurationsAndListsConvertFromVariable(t *testing.T) {
	t.Parallel()
	for _, quote := range []string{"", `"`, "'"} {
		text := strings.ReplaceAll(`
queue:
  worker_count: ~{{.N}}~
  session_timeout: ~{{.D}}~
defaults:
  alert_masking: {enabled: ~{{.B}}~}
system:
  trusted_proxies: ~{{.L}}~
  cost_estimation: {model_rates: {m: {input_per_million: ~{{.F}}~, output_per_million: 2}}}
`, "~", quote)
		c := mustLoad(t, text, map[string]string{"N": "8", "D": "7m", "B": "false", "F": "1.5", "L": "10.0.0.0/8, ::1"})
		require.Equal(t, 8, c.Queue.WorkerCount)
		require.Equal(t, "7m0s", c.Queue.SessionTimeout.String())
		require.False(t, c.Defaults.AlertMasking.Enabled)
		require.Equal(t, []string{"10.0.0.0/8", "::1"}, c.System.TrustedProxies)
		require.InDelta(t, 1.5, c.System.CostEstimation.ModelRates["m"].InputPerMillion, 0)
	}
}

func TestUnsetVariableIsReportedAtItsLine(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"tarsy.yaml:3: defaults.runbook: environment variable A is not set",
		"tarsy.yaml:3: defaults.runbook: environment variable B is not set",
		"tarsy.yaml:5: queue.worker_count: environment variable C is not set",
	}, problems(t, "# {{.IN_A_COMMENT}}\ndefaults:\n  runbook: {{.A}} and {{.B}}\nqueue:\n  worker_count: {{.C}}\n", nil))
}

func TestVariableOfWrongTypeIsReportedWithoutItsValue(t *testing.T) {
	t.Parallel()
	got := problems(t, `
queue: {worker_count: {{.V}}, session_timeout: "{{.V}}"}
defaults: {llm_provider: {{.V}}, success_policy: {{.V}}}
system: {dashboard_url: {{.V}}}
llm_providers: {x: {type: openai, model: m, api_key_env: {{.V}}}}
`, map[string]string{"V": "hunter-2"})
	require.Len(t, got, 6)
	for _, line := range got {
		require.NotContains(t, line, "hunter-2")
	}
	require.Equal(t, "tarsy.yaml:2: queue.worker_count: expected a whole number, and that is not what the environment variable holds", got[0])
}

func TestVariableCannotBePartOfKey(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"tarsy.yaml:2: agents: an environment variable cannot be part of a key"},
		problems(t, "agents:\n  {{.A}}: {}\n", map[string]string{"A": "x"}))
}

func TestTextResemblingVariableIsUnchanged(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "defaults:\n  runbook: 'see {{ .Values.image }} and {{range}} and {x}'\n", nil)
	require.Equal(t, "see {{ .Values.image }} and {{range}} and {x}", c.Defaults.Runbook)
}
