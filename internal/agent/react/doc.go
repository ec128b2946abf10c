// Package react is the text protocol for models without function calling: the prompt fragments that explain it, and the parser that
// extracts an action or a final answer from a reply. It makes no calls and keeps no state; the loop of internal/agent decides what to
// do with a reply.
package react
