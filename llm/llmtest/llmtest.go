// Package llmtest is the conformance suite of llm.Client: one contract that every provider keeps, shown against a
// scripted server, and against the real API for those who have a key. It knows the contract and the script; the client
// and the server that speaks its API are inputs.
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
	// Model is what is asked for; empty means a name that no API knows. Effort is a reasoning effort that the model
	// takes; empty means "high".
	Model  string
	Effort string
	// New makes a client of the server at serverURL, to which the client proves itself by key.
	New func(t *testing.T, serverURL, key string) llm.Client
	// Handler returns the provider's HTTP API, answering from s. The suite serves it and watches its connections.
	Handler func(s *script.Script) http.Handler
	// Serve replaces Handler for an API that is not plain HTTP: it starts a server that answers from s and stops it
	// when the test is over.
	Serve func(t *testing.T, s *script.Script) (serverURL string)
	// Lacks is what the provider's API does not have. Cases of what it lacks are left out, or ask for less.
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
	// FeatureStopReason: the API tells a stop sequence from the end of the answer.
	FeatureStopReason Feature = "stop reason"
	// FeatureNativeTools is all of them; the three after it are one each.
	FeatureNativeTools   Feature = "native tools"
	FeatureSearch        Feature = "search"
	FeatureCodeExecution Feature = "code execution"
	FeatureURLContext    Feature = "url context"
	// FeatureSearchQueries: the API tells what it searched for.
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

// Run checks that the provider keeps the contract. The test that calls it must not be parallel: goroutines are counted
// before and after.
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

	// The group ends when all of its parallel tests have.
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
