// Package agent runs one execution: the loop of LLM calls and tool calls, its prompts and its limits, and the shortening of long
// results and findings for the model. It knows nothing of the database, of leases or of HTTP: it takes messages and returns steps.
package agent
