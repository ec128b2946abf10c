// Package model provides a model to the example programs that need one. It is separate from package example because it
// links the clients of all providers, which make a program larger and its build slower.
package model

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"tarsy.dev/tarsy/flow/program"
	"tarsy.dev/tarsy/llm/anthropic"
	"tarsy.dev/tarsy/llm/gemini"
	"tarsy.dev/tarsy/llm/openai"
	"tarsy.dev/tarsy/llm/script"
)

// OrScript uses the first provider whose key is set, or answers from a script. The last answer of the script repeats.
func OrScript(answers ...string) func(*program.Env) error {
	return func(env *program.Env) error { return choose(env, answers) }
}

func choose(env *program.Env, answers []string) error {
	var err error

	model := os.Getenv("FLOW_MODEL")

	switch {
	case os.Getenv("OPENAI_API_KEY") != "":
		env.Model = cmp.Or(model, "gpt-4o")
		env.LLM, err = openai.New(openai.Config{APIKey: os.Getenv("OPENAI_API_KEY"), BaseURL: os.Getenv("OPENAI_BASE_URL")})
	case os.Getenv("ANTHROPIC_API_KEY") != "":
		env.Model = cmp.Or(model, "claude-sonnet-4-5")
		env.LLM, err = anthropic.New(anthropic.Config{APIKey: os.Getenv("ANTHROPIC_API_KEY"), BaseURL: os.Getenv("ANTHROPIC_BASE_URL")})
	case os.Getenv("GOOGLE_API_KEY") != "":
		env.Model = cmp.Or(model, "gemini-2.5-flash")
		env.LLM, err = gemini.New(gemini.Config{APIKey: os.Getenv("GOOGLE_API_KEY"), BaseURL: os.Getenv("GOOGLE_BASE_URL")})
	default:
		fmt.Fprintln(os.Stderr, "No model API key is set (OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY); using scripted replies.")

		env.Model = "script"
		env.LLM = scripted(answers)
	}

	return err
}

func scripted(answers []string) *script.Script {
	model := script.New(script.Options{Pace: script.Pace{FirstToken: 50 * time.Millisecond, TokensPerSecond: 60}, Forget: true})

	for i, answer := range answers {
		reply := script.Reply{Text: answer}
		if i == len(answers)-1 {
			reply.Times = -1
		}

		model.Add(reply)
	}

	return model
}
