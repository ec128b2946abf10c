// Package llmpb is llm_service.proto as generated Go code; go generate in the directory above writes it anew.
package llmpb
