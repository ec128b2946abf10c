package watch

import (
	"strconv"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client/live"
)

const (
	// leastTail and mostTail limit how many lines of an agent are shown while several are working.
	leastTail = 3
	mostTail  = 12
	// agentChrome is how many more lines an agent takes: its name, the number of lines above, and an empty line.
	agentChrome = 3
)

// stage renders a stage with all its events.
func (b *body) stage(item *live.Item, at moment) []string {
	right := running(item.Began, item.Ended, at.now) + " " + b.sign(item.Status, at.spin)
	lines := []string{b.stageTitle(item, right)}

	if len(item.Agents) > 1 {
		return append(lines, b.agents(item, at)...)
	}

	if item.StageType == tarsy.StageInvestigation || item.StageType == "" {
		for _, agent := range item.Agents {
			lines = append(lines, margin+b.palette.Paint(terminal.Purple, terminal.Line(agent.Name)))
		}
	}

	for _, event := range item.Events {
		lines = append(lines, b.event(event, at)...)
	}

	return lines
}

func (b *body) stageTitle(item *live.Item, right string) string {
	switch item.StageType {
	case tarsy.StageSynthesis:
		return b.title("Stage "+strconv.Itoa(item.Index), stageTitle(item), right)
	case tarsy.StageChat:
		author := ""

		for _, event := range item.Events {
			if event.Type == tarsy.EventUserQuestion {
				author = terminal.Line(tarsy.MetadataAs[tarsy.QuestionMetadata](event.Metadata).Author)
			}
		}

		return b.title("Question "+strconv.Itoa(item.Question), author, right)
	case tarsy.StageInvestigation:
	}

	what := stageTitle(item)
	if n := len(item.Agents); n > 1 {
		what += " · " + count(n, "agent") + " in parallel"
	}

	return b.title("Stage "+strconv.Itoa(item.Index), what, right)
}

// agents renders concurrent agents one below the other, each behind a bar. While they work, only the last lines are
// shown, so that all agents are visible.
func (b *body) agents(stage *live.Item, at moment) []string {
	var lines []string

	inner := *b
	inner.width -= len(margin) + terminal.Width(bar)
	edge := margin + b.palette.Paint(terminal.Purple, bar)

	for _, event := range stage.Events {
		if event.Agent == nil {
			lines = append(lines, b.event(event, at)...)
		}
	}

	for _, agent := range stage.Agents {
		right := running(agent.Began, agent.Ended, at.now) + " " + b.sign(agent.Status, at.spin)
		lines = append(lines, b.spread(margin+b.palette.Paint(terminal.Purple, terminal.Line(agent.Name)), right))

		var own []string

		for _, event := range stage.Events {
			if event.Agent == agent {
				own = append(own, inner.event(event, at)...)
			}
		}

		for len(own) > 0 && own[len(own)-1] == "" {
			own = own[:len(own)-1]
		}

		if stage.Ended.IsZero() && !b.expanded {
			own = b.tail(own, len(stage.Agents))
		}

		for _, line := range own {
			lines = append(lines, edge+line)
		}

		lines = append(lines, "")
	}

	return lines
}

// tail returns the last lines of one of several agents.
func (b *body) tail(lines []string, agents int) []string {
	most := max(leastTail, min(mostTail, b.room/agents-agentChrome))
	if len(lines) <= most+1 {
		return lines
	}

	above := "… " + count(len(lines)-most, "line") + " above"

	return append([]string{margin + b.palette.Paint(terminal.Dim, above)}, lines[len(lines)-most:]...)
}
