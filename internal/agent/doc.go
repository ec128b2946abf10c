// Package agent runs one execution: the loop of LLM calls and tool calls, its prompts and its limits, and what makes
// long results and many findings short enough for a model to read.
// It knows nothing of the database, of leases or of HTTP: it is handed messages, and hands back steps.
package agent
