// Package llmtest is the conformance suite of llm.Client: one contract for every provider, tested against a scripted server
// and, if there is a key, against the real API. It knows the contract and the script; the client and the server that speaks its
// API are inputs.
package llmtest

import (
	"net/http"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// Provider is a client under test.
type Provider struct {
	Name string
	// Model is the requested model; empty means a name that no API knows. Effort is a reasoning effort that the model supports;
	// empty means "high".
	Model  string
	Effort string
	// New returns a client for the server at serverURL that authenticates with key.
	New func(t *testing.T, serverURL, key string) llm.Client
	// Handler returns the provider's HTTP API, answering from s. The suite serves it and watches its connections.
	Handler func(s *script.Script) http.Handler
	// Serve replaces Handler for an API that is not plain HTTP: it starts a server that answers from s and stops it when the
	// test ends.
	Serve func(t *testing.T, s *script.Script) (serverURL string)
	// Lacks lists what the provider's API does not have. Cases for it are skipped or reduced.
	Lacks []Feature
}

// Feature is something that not every API has.
type Feature string

// The features.
const (
	FeatureThinking         Feature = "thinking"
	FeatureSignature        Feature = "signature"
	FeatureStructuredOutput Feature = "structured output"
	FeatureReasoningEffort  Feature = "reasoning effort"
	FeatureStopSequences    Feature = "stop sequences"
	// FeatureStopReason: the API distinguishes a stop sequence from the end of the answer.
	FeatureStopReason Feature = "stop reason"
	// FeatureNativeTools is all native tools; the next three are individual ones.
	FeatureNativeTools   Feature = "native tools"
	FeatureSearch        Feature = "search"
	FeatureCodeExecution Feature = "code execution"
	FeatureURLContext    Feature = "url context"
	// FeatureSearchQueries: the API reports what it searched for.
	FeatureSearchQueries  Feature = "search queries"
	FeatureCachedTokens   Feature = "cached tokens"
	FeatureThinkingTokens Feature = "thinking tokens"
	FeatureToolCallIDs    Feature = "tool call ids"
	FeatureTextWithCalls  Feature = "text beside tool calls"
)

func (p Provider) has(features ...Feature) bool {
	for _, feature := range features {
		if slices.Contains(p.Lacks, feature) {
			return false
		}
	}

	return true
}

// Run checks that the provider keeps the contract. The test that calls it must not be parallel: goroutines are compared before
// and after.
func Run(t *testing.T, p Provider) {
	t.Helper()

	if (p.Handler == nil) == (p.Serve == nil) {
		t.Fatalf("the provider %s needs a Handler or a Serve, and not both", p.Name)
	}

	if p.Model == "" {
		p.Model = "virtual-model-1"
	}

	if p.Effort == "" {
		p.Effort = "high"
	}

	before := goleak.IgnoreCurrent()

	t.Run("an enormous answer arrives whole, in bounded memory", func(t *testing.T) { enormousAnswer(newFixture(t, p)) })

	// The group ends once all of its parallel tests have finished.
	t.Run("contract", func(t *testing.T) {
		for _, group := range []map[string]func(*fixture){
			textCases(), toolCases(), schemaCases(), thinkingCases(), settingCases(), nativeCases(), usageCases(),
			errorCases(), faultCases(), endCases(), loadCases(),
		} {
			for name, test := range group {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(newFixture(t, p))
				})
			}
		}
	})

	t.Run("no goroutine is left", func(t *testing.T) { goleak.VerifyNone(t, before) })
}
