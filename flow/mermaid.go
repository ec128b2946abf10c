package flow

import (
	"fmt"
	"strings"
)

// Mermaid renders the flow as a Mermaid flowchart: branches are boxes, routes are arrows, and a terminal ends in a circle.
func (f *Flow) Mermaid() string {
	var out strings.Builder

	out.WriteString("flowchart LR\n")

	ids := map[*Branch]string{}

	for i, branch := range f.branches {
		ids[branch] = fmt.Sprintf("b%d", i+1)
		fmt.Fprintf(&out, "    %s[%s]\n", ids[branch], quoted(branch.name))
	}

	terminals := 0

	for _, rule := range f.rules {
		if rule.terminal {
			terminals++
			fmt.Fprintf(&out, "    %s -- %s --> t%d((end))\n", ids[rule.from.branch], quoted(rule.from.typeName), terminals)

			continue
		}

		label := rule.from.typeName + " → " + rule.to.typeName
		fmt.Fprintf(&out, "    %s -- %s --> %s\n", ids[rule.from.branch], quoted(label), ids[rule.to.branch])
	}

	return out.String()
}

// quoted quotes a label so that Mermaid treats all of its characters as text.
func quoted(label string) string {
	return `"` + strings.NewReplacer(`"`, "#quot;", "\n", " ").Replace(label) + `"`
}
