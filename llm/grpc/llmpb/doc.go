// Package llmpb is llm_service.proto as generated Go code; go generate in the directory above regenerates it.
package llmpb
