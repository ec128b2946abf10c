// Package story contains what the demo plays: the alerts, the model's answers to them, and the configuration that runs
// them. It knows the names of the demo cluster's tools, but not how they are reached, and nothing about the engine.
package story

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"tarsy.dev/tarsy/llm"
)

//go:embed stories/*.yaml
var files embed.FS

// names lists the stories in the order in which their alerts are sent.
func names() []string {
	return []string{
		"slow-search", "oom-kill", "crash-loop", "expiring-certificate", "false-alarm", "leaked-token", "pod-not-ready", "node-down",
	}
}

// Example returns an alert that people can submit to the demo by hand, and that its model investigates.
func Example() (alertType, text string) {
	return "pod-oom-killed", "KubePodOOMKilled: checkout in namespace shop was killed again"
}

// story is one file of stories/.
type story struct {
	Name      string `yaml:"name"`
	Title     string `yaml:"title"`
	AlertType string `yaml:"alert_type"`
	// Markers are words of the alert, with | between alternatives. A conversation is about the story if one of its user
	// messages contains all of them.
	Markers []string `yaml:"markers"`
	// Alerts are sent by Alertmanager, and Replicas is how many Alertmanagers send them; 0 means one.
	Alerts   []firing `yaml:"alerts"`
	Replicas int      `yaml:"replicas"`
	// Text is an alert that does not come from Alertmanager, and Runbook is submitted with it. The runbooks of the other
	// alerts are in the routes of the configuration.
	Text    string  `yaml:"text"`
	Runbook string  `yaml:"runbook"`
	Stages  []stage `yaml:"stages"`
	// ExecutiveSummary answers the call that summarises the last stage's analysis.
	ExecutiveSummary string `yaml:"executive_summary"`
	// Verdict answers the call for the verdict.
	Verdict verdict `yaml:"verdict"`
	Chat    chat    `yaml:"chat"`
}

// stage is the script of one agent. The last turn has no tools: its text is the stage's result, unless the stage fails.
type stage struct {
	Agent string `yaml:"agent"`
	Turns []turn `yaml:"turns"`
	// Conclusion is the result when the agent must stop before its last turn.
	Conclusion string `yaml:"conclusion"`
}

// turn is one response of the model, or its error.
type turn struct {
	// Error is the provider's message when it refuses; it ends the stage.
	Error    string    `yaml:"error"`
	Thinking string    `yaml:"thinking"`
	Text     string    `yaml:"text"`
	Tools    []toolUse `yaml:"tools"`
}

// toolUse is a call of one of the cluster's tools, by the tool's name there.
type toolUse struct {
	Tool      string         `yaml:"tool"`
	Arguments map[string]any `yaml:"arguments"`
}

// load reads the embedded stories. They are part of the program: a story that cannot be read is a bug, which a test finds,
// not an error that a caller could handle.
func load() []story {
	stories := make([]story, len(names()))

	for i, name := range names() {
		text, err := fs.ReadFile(files, "stories/"+name+".yaml")
		if err != nil {
			panic(fmt.Sprintf("story %s: %v", name, err))
		}

		if err := yaml.UnmarshalWithOptions(text, &stories[i], yaml.DisallowUnknownField()); err != nil {
			panic(fmt.Sprintf("story %s: %v", name, err))
		}
	}

	return stories
}

// stage returns the part of the story that agent plays; an unknown agent plays the first.
func (s *story) stage(agent string) *stage {
	i := slices.IndexFunc(s.Stages, func(st stage) bool { return st.Agent == agent })

	return &s.Stages[max(i, 0)]
}

// result returns the text of the stage's last turn.
func (s *stage) result() string { return s.Turns[len(s.Turns)-1].Text }

// heading returns the first line of the stage's result, which identifies the result in later messages; a failing stage has
// none.
func (s *stage) heading() string {
	line, _, _ := strings.Cut(strings.TrimSpace(s.result()), "\n")

	return line
}

// call returns a call of the tool under the name that the model knows it by, and false if the model does not have the tool.
func (u *toolUse) call(tools []llm.Tool) (llm.ToolCall, bool) {
	i := slices.IndexFunc(tools, func(t llm.Tool) bool {
		return t.Name == u.Tool || strings.HasSuffix(t.Name, "__"+u.Tool) || strings.HasSuffix(t.Name, "."+u.Tool)
	})
	if i < 0 {
		return llm.ToolCall{}, false
	}

	arguments := u.Arguments
	if arguments == nil {
		arguments = map[string]any{}
	}

	text, err := json.Marshal(arguments)
	if err != nil {
		panic(fmt.Sprintf("arguments of %s: %v", u.Tool, err))
	}

	return llm.ToolCall{Name: tools[i].Name, Arguments: string(text)}, true
}
