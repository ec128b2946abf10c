package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/llm"
)

// success is the outcome of a successful call.
const success = "success"

// sessions are the metrics of sessions and notes.
type sessions struct {
	steps                                                    prometheus.Counter
	calls, tokens, cost, retries, fallbacks, tools, finished *prometheus.CounterVec
	callSeconds, toolSeconds                                 *prometheus.HistogramVec

	purposes, outcomes names
	statuses, verdicts names
}

func newSessions() sessions {
	s := sessions{
		steps:     newCounter("steps_total", "Steps of sessions that this server committed."),
		calls:     newCounters("llm_calls_total", "LLM calls, by outcome: success or the code of the error.", "provider", "model", "purpose", "outcome"),
		tokens:    newCounters("llm_tokens_total", "Tokens of LLM calls; cached is a part of input.", "provider", "model", "kind"),
		cost:      newCounters("llm_cost_usd_total", "Cost of LLM calls in US dollars, for models with a known price.", "provider", "model"),
		retries:   newCounters("llm_retries_total", "Attempts of LLM calls after the first.", "provider"),
		fallbacks: newCounters("llm_fallbacks_total", "Failures of a provider after which the next one continued.", "provider"),
		tools:     newCounters("tool_calls_total", "Tool calls, by outcome: success, error or unknown.", "server", "outcome"),
		finished:  newCounters("sessions_finished_total", "Sessions that ended, by status and by the outcome of the verdict.", "status", "outcome"),
		callSeconds: newHistograms("llm_call_duration_seconds", "Duration of LLM calls, including retries.",
			[]float64{0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 120, 300}, "provider"),
		toolSeconds: newHistograms("tool_call_duration_seconds", "Duration of tool calls.",
			[]float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 90}, "server"),
		purposes: newNames(append(texts(tarsy.InteractionTypes()), "note_extraction", "note_organization")),
		outcomes: newNames(append(codes(), "llm_error", "iteration_timeout", "deadline", "empty_answer")),
		statuses: newNames(texts(tarsy.SessionStatuses())),
		verdicts: newNames(append(texts(tarsy.Outcomes()), "none")),
	}

	// A series that starts with its first event hides that event from increase().
	for _, status := range tarsy.SessionStatuses() {
		if status.Terminal() {
			s.finished.WithLabelValues(string(status), "none")
		}
	}

	return s
}

func texts[S ~string](values []S) []string {
	all := make([]string, len(values))
	for i, value := range values {
		all[i] = string(value)
	}

	return all
}

// codes returns the outcomes of LLM calls: success, and the known classes of errors.
func codes() []string {
	all := []string{success}
	for _, class := range llm.Classes() {
		all = append(all, "llm_"+string(class))
	}

	return all
}

func (s *sessions) all() []prometheus.Collector {
	return []prometheus.Collector{
		s.steps, s.calls, s.tokens, s.cost, s.retries, s.fallbacks, s.tools, s.finished, s.callSeconds, s.toolSeconds,
	}
}

// Committed counts what a step records. Call it once for each step, after its commit, so that the sums match the database: a
// call whose result was lost in a crash is repeated, but counted once.
func (m *Metrics) Committed(step progress.Step) {
	m.steps.Inc()

	for i := range step.LLMInteractions {
		m.llmCall(&step.LLMInteractions[i])
	}

	for i := range step.MCPInteractions {
		if call := &step.MCPInteractions[i]; step.EndsCall(call) {
			m.toolCall(call)
		}
	}

	for i := range step.Timeline {
		if event := &step.Timeline[i]; event.EventType == tarsy.EventProviderFallback {
			m.fallbacks.WithLabelValues(m.providers.label(tarsy.MetadataAs[tarsy.ProviderFallbackMetadata](event.Metadata).From)).Inc()
		}
	}

	if step.EndsSession() {
		outcome := string(step.Session.Outcome)
		if outcome == "" {
			outcome = "none"
		}

		m.finished.WithLabelValues(m.statuses.label(string(step.Session.Status)), m.verdicts.label(outcome)).Inc()
	}
}

func (m *Metrics) llmCall(call *tarsy.LLMInteraction) {
	provider := m.used(call.Provider, call.ModelName, string(call.InteractionType), call.ErrorCode, call.Usage)

	if call.Attempts > 1 {
		m.retries.WithLabelValues(provider).Add(float64(call.Attempts - 1))
	}

	m.callSeconds.WithLabelValues(provider).Observe(seconds(call.DurationMs))
}

// NoteCall counts an LLM call about a note, which failed with err if it is not nil.
func (m *Metrics) NoteCall(provider, model, purpose string, usage tarsy.Usage, err error) {
	code := ""
	if err != nil {
		code = "llm_error"
		if class := llm.AsError(err).Class; class != llm.ClassUnknown {
			code = "llm_" + string(class)
		}
	}

	m.used(provider, model, purpose, code, usage)
}

// used counts a call, its tokens and its cost, and returns the label of the provider. An empty code means success.
func (m *Metrics) used(provider, model, purpose, code string, usage tarsy.Usage) string {
	if code == "" {
		code = success
	}

	provider, model = m.providers.label(provider), m.models.label(model)
	m.calls.WithLabelValues(provider, model, m.purposes.label(purpose), m.outcomes.label(code)).Inc()

	for _, part := range [...]struct {
		kind   string
		tokens int
	}{
		{"input", usage.InputTokens}, {"output", usage.OutputTokens}, {"thinking", usage.ThinkingTokens}, {"cached", usage.CachedTokens},
	} {
		if part.tokens > 0 {
			m.tokens.WithLabelValues(provider, model, part.kind).Add(float64(part.tokens))
		}
	}

	if usage.CostUSD > 0 {
		m.cost.WithLabelValues(provider, model).Add(usage.CostUSD)
	}

	return provider
}

func (m *Metrics) toolCall(call *tarsy.MCPInteraction) {
	outcome, server := success, m.servers.label(call.ServerName)

	switch {
	case call.Status == tarsy.CallUnknown:
		outcome = "unknown"
	case call.IsError:
		outcome = "error"
	}

	m.tools.WithLabelValues(server, outcome).Inc()
	m.toolSeconds.WithLabelValues(server).Observe(seconds(call.DurationMs))
}

func seconds(ms int64) float64 { return time.Duration(ms * int64(time.Millisecond)).Seconds() }
