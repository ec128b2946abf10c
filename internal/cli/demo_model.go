package cli

import (
	"tarsy.dev/tarsy/internal/kit/demo/story"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// scriptedModel returns the model behind providers of the type scripted: it plays the stories of the demo, without pauses.
func scriptedModel() llm.Client { return story.Client(script.Pace{}) }
