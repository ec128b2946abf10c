package agent

import (
	"fmt"
	"maps"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/llm"
)

// Fallback is a model that takes over when the previous one fails.
type Fallback struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Backend  string `json:"backend"`
	// MaxResultTokens and NativeTools are as in Spec.
	MaxResultTokens int             `json:"max_result_tokens,omitempty"`
	NativeTools     llm.NativeTools `json:"native_tools"`
}

// using returns the spec after a provider of its fallbacks has taken over; the fallbacks before it are used up. Results that the
// agent's own model summarised are summarised by the new one.
func (s Spec) using(provider string) Spec {
	i := slices.IndexFunc(s.Fallbacks, func(f Fallback) bool { return f.Provider == provider })
	if i < 0 || provider == s.Provider {
		return s
	}

	before, now := s, s.Fallbacks[i]
	s.Provider, s.Model, s.Backend = now.Provider, now.Model, now.Backend
	s.MaxResultTokens, s.NativeTools, s.Fallbacks = now.MaxResultTokens, now.NativeTools, s.Fallbacks[i+1:]
	s.Digests = maps.Clone(s.Digests)

	for server, digest := range s.Digests {
		if digest.Provider == before.Provider {
			digest.Provider, digest.Model, digest.Backend = now.Provider, now.Model, now.Backend
			s.Digests[server] = digest
		}
	}

	return s
}

// fallBack lets the next provider take over until the execution's end, and adds an event about it. The provider is stored in the
// execution's row, so that a server that resumes after a crash uses the same one.
func (x *execution) fallBack(step *progress.Step, code, reason string) {
	from, to := x.Spec.Provider, x.Spec.Fallbacks[0].Provider

	x.Execution.LLMProvider = to
	x.Spec = x.Spec.using(to)
	step.Executions = append(step.Executions, x.Execution)

	event := x.newEvent(tarsy.EventProviderFallback, tarsy.EventCompleted, fallbackText(from, to, reason))
	event.Metadata = fallbackMetadata(from, to, code)
	create(step, event)
}

func fallbackText(from, to, reason string) string {
	return fmt.Sprintf("%s failed; %s takes over. %s", from, to, plaintext.Clean(reason))
}

func fallbackMetadata(from, to, code string) tarsy.Metadata {
	return tarsy.NewMetadata(tarsy.ProviderFallbackMetadata{From: from, To: to, Code: code})
}
