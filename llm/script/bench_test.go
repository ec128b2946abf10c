package script_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// BenchmarkAnswer measures a short text without waits, behind a few routes that do not match.
func BenchmarkAnswer(b *testing.B) {
	for name, options := range map[string]script.Options{"forgets": {Forget: true}, "keeps 1000": {Keep: 1000}} {
		b.Run(name, func(b *testing.B) {
			s := script.New(options)
			for _, text := range []string{"disk", "memory", "network"} {
				if err := s.On(script.Match{User: script.Text{Contains: text}}, script.Reply{Text: "no"}); err != nil {
					b.Fatal(err)
				}
			}

			s.Add(script.Reply{Text: "The pod was killed: out of memory.", Times: -1})

			in := script.Incoming{
				Header: http.Header{},
				Request: &llm.Request{Model: "gpt-5", Messages: []llm.Message{
					{Role: llm.RoleSystem, Content: "You are Investigator, an engineer."}, {Role: llm.RoleUser, Content: "Why does the pod restart?"},
				}},
			}

			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					for _, err := range s.Answer(b.Context(), in) {
						if err != nil {
							b.Error(err)
						}
					}
				}
			})
		})
	}
}

// BenchmarkAnswerAmongMany measures a call that the last of 10,000 routes takes, for each kind of condition.
func BenchmarkAnswerAmongMany(b *testing.B) {
	const routes = 10_000

	in := script.Incoming{
		Header: http.Header{"X-Test": {"test 9999"}},
		Request: &llm.Request{Model: "gpt-5", Messages: []llm.Message{
			{Role: llm.RoleSystem, Content: "You are agent 9999, an engineer."},
			{Role: llm.RoleUser, Content: strings.Repeat("Nothing to see here. ", 100) + "case 9999;"},
		}},
	}

	for name, match := range map[string]func(i int) script.Match{
		"agent":       func(i int) script.Match { return script.Match{Agent: fmt.Sprint("agent ", i)} },
		"agent, turn": func(i int) script.Match { return script.Match{Agent: fmt.Sprint("agent ", i), Turn: new(0)} },
		"header": func(i int) script.Match {
			return script.Match{Header: map[string]script.Text{"x-test": {Equals: fmt.Sprint("test ", i)}}}
		},
		"user contains": func(i int) script.Match { return script.Match{User: script.Text{Contains: fmt.Sprintf("case %d;", i)}} },
		"user matches":  func(i int) script.Match { return script.Match{User: script.Text{Matches: fmt.Sprintf("case %d;$", i)}} },
	} {
		b.Run(name, func(b *testing.B) {
			s := script.New(script.Options{Forget: true})
			for i := range routes {
				if err := s.On(match(i), script.Reply{Text: "yes", Times: -1}); err != nil {
					b.Fatal(err)
				}
			}

			b.ReportAllocs()

			for b.Loop() {
				for _, err := range s.Answer(b.Context(), in) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
