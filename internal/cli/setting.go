package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// envAnnotation marks flags that have an environment variable.
const envAnnotation = "tarsy_env"

// Origins of a flag's value.
const (
	originDefault = "default"
	originFlag    = "flag --"
	originEnv     = "env "
)

// withEnv connects a flag to an environment variable and adds it to the flag's help.
func withEnv(flags *pflag.FlagSet, name, variable string) {
	flag := flags.Lookup(name)
	flag.Usage += " [" + variable + "]"
	flag.Annotations = map[string][]string{envAnnotation: {variable}}
}

// bind sets flags that were not given from their variables, and records the origin of each value.
func (t *tool) bind(cmd *cobra.Command) error {
	var failed error

	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		t.origins[flag.Name] = originDefault

		if flag.Changed {
			t.origins[flag.Name] = originFlag + flag.Name

			return
		}

		variables := flag.Annotations[envAnnotation]
		if len(variables) == 0 {
			return
		}

		value, ok := t.variable(variables[0])
		if !ok {
			return
		}

		if err := flag.Value.Set(value); err != nil && failed == nil {
			failed = fmt.Errorf("%s: %w", variables[0], plain(err))
		}

		t.origins[flag.Name] = originEnv + variables[0]
	})

	return failed
}

// errNotNumber describes a value that strconv rejects.
var errNotNumber = errors.New("is not a number")

// plain removes the names of Go functions from an error about a flag.
func plain(err error) error {
	number, ok := errors.AsType[*strconv.NumError](err)
	if !ok {
		return err
	}

	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s: %q %w", invalid.GetFlag().Name, number.Num, errNotNumber)
	}

	return fmt.Errorf("%q %w", number.Num, errNotNumber)
}

// given reports whether a flag or its variable was set.
func (t *tool) given(name string) bool {
	origin := t.origins[name]

	return origin != "" && origin != originDefault
}

// choice is a flag with a fixed set of values.
type choice struct {
	value   string
	allowed []string
}

func newChoice(value string, others ...string) *choice {
	return &choice{value: value, allowed: append([]string{value}, others...)}
}

// String implements pflag.Value.
func (c *choice) String() string { return c.value }

// Type implements pflag.Value. The help shows it in place of the value.
func (c *choice) Type() string { return strings.Join(c.allowed, "|") }

// Set implements pflag.Value.
func (c *choice) Set(value string) error {
	if slices.Contains(c.allowed, value) {
		c.value = value

		return nil
	}

	return usageError{fmt.Errorf("%q is not one of %s", value, strings.Join(c.allowed, ", "))}
}
