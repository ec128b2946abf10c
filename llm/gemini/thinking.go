package gemini

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/genai"

	"tarsy.dev/tarsy/llm"
)

// thinkingOf returns how the model should think, and whether it shows its thoughts.
//
// From the third generation on, an effort is a level. "none" and "minimal" are the lowest level of a model: MINIMAL for Flash
// before 3.7 and for Flash-Lite, LOW for all others; Gemini 3 Pro has no MEDIUM, and gets HIGH instead. Models of generation
// 2.5 have a token budget:
//
//	none 0 (128 for Pro, which cannot turn thinking off), minimal 512, low 1024, medium 8192, high 24576
//
// A number is a budget for every model. Models before 2.5 do not think, and get no thinking settings unless an effort is set.
func thinkingOf(req *llm.Request) (*genai.ThinkingConfig, error) {
	model := short(req.Model)
	effort := strings.ToLower(req.ReasoningEffort)
	thinking := &genai.ThinkingConfig{IncludeThoughts: true}

	if effort == "" {
		if !thinks(model) {
			return nil, nil //nolint:nilnil // no settings are no error
		}

		return thinking, nil
	}

	if tokens, err := strconv.ParseInt(effort, 10, 32); err == nil {
		thinking.ThinkingBudget = new(int32(tokens))
		thinking.IncludeThoughts = tokens != 0

		return thinking, nil
	}

	if generation3(model) {
		thinking.ThinkingLevel = level(model, effort)

		return thinking, nil
	}

	budget, ok := map[string]int32{"none": 0, "minimal": 512, "low": 1024, "medium": 8192, "high": 24576}[effort]
	if !ok {
		return nil, &llm.Error{
			Class: llm.ClassInvalid, Message: fmt.Sprintf("reasoning effort %q is unknown", req.ReasoningEffort),
			Hint: "use none, minimal, low, medium, high or a number of tokens",
		}
	}

	if budget == 0 && strings.Contains(model, "pro") {
		budget = 128
	}

	thinking.ThinkingBudget = &budget
	// A model that does not think has nothing to show, and some reject the setting.
	thinking.IncludeThoughts = budget > 0

	return thinking, nil
}

// level returns the API's level for an effort. An unknown effort is left to the API to judge.
func level(model, effort string) genai.ThinkingLevel {
	switch {
	case (effort == "none" || effort == "minimal") && !hasMinimal(model):
		return genai.ThinkingLevelLow
	case effort == "none":
		return genai.ThinkingLevelMinimal
	case strings.HasPrefix(model, "gemini-3-pro") && effort == "medium":
		return genai.ThinkingLevelHigh
	default:
		return genai.ThinkingLevel(strings.ToUpper(effort))
	}
}

// hasMinimal reports whether a model with levels has the MINIMAL level.
func hasMinimal(model string) bool {
	const (
		third = 3
		lost  = 7
	)

	major, minor, ok := generation(model)
	if !ok || major != third || !strings.Contains(model, "flash") {
		return false
	}

	return minor < lost || strings.Contains(model, "flash-lite")
}

// short returns a model's name without its path.
func short(model string) string { return model[strings.LastIndexByte(model, '/')+1:] }

var numbered = regexp.MustCompile(`^gemini-(\d{1,3})(?:\.(\d{1,3}))?(?:-|$)`)

// generation returns the generation of a model, if its name contains it.
func generation(model string) (major, minor int, ok bool) {
	found := numbered.FindStringSubmatch(short(model))
	if found == nil {
		return 0, 0, false
	}

	major, _ = strconv.Atoi(found[1])
	minor, _ = strconv.Atoi(found[2])

	return major, minor, true
}

// generation3 reports whether a model is of the third generation or later. Models whose names contain no generation, such as
// gemini-flash-latest, are of the newest.
func generation3(model string) bool {
	const third = 3

	if major, _, ok := generation(model); ok {
		return major >= third
	}

	name := short(model)

	return strings.HasPrefix(name, "gemini-") && strings.HasSuffix(name, "-latest")
}

// thinks reports whether a model can be asked for its thoughts. Models whose names contain no generation, such as
// gemini-flash-latest, can.
func thinks(model string) bool {
	for _, before := range []string{"gemini-1", "gemini-2.0", "gemini-pro-vision", "gemma"} {
		if strings.HasPrefix(model, before) {
			return false
		}
	}

	return true
}
