package price

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed models.yaml
var modelsYAML []byte

// entry is one model of the bundled table, models.yaml, which documents the source of each price.
type entry struct {
	Model       string  `yaml:"model"`
	Input       float64 `yaml:"input"`
	CachedInput float64 `yaml:"cached_input"`
	Output      float64 `yaml:"output"`
	// Taken is the date on which the price was checked, such as 2026-11-15.
	Taken string `yaml:"taken"`
	Long  *long  `yaml:"long"`
}

type long struct {
	AboveInputTokens int     `yaml:"above_input_tokens"`
	Input            float64 `yaml:"input"`
	CachedInput      float64 `yaml:"cached_input"`
	Output           float64 `yaml:"output"`
}

// bundled returns the table, which is parsed once per process because that takes milliseconds. It is part of the program and
// tested, so it cannot fail.
var bundled = sync.OnceValue(func() []entry {
	var table struct {
		Models []entry `yaml:"models"`
	}

	if err := yaml.UnmarshalWithOptions(modelsYAML, &table, yaml.Strict()); err != nil {
		panic(fmt.Sprintf("price: models.yaml: %v", err))
	}

	return table.Models
})

func (e entry) rate() Rate {
	rate := Rate{Input: e.Input, CachedInput: e.CachedInput, Output: e.Output}
	if e.Long != nil {
		rate.LongAbove = e.Long.AboveInputTokens
		rate.Long = &Rate{Input: e.Long.Input, CachedInput: e.Long.CachedInput, Output: e.Long.Output}
	}

	return rate
}
