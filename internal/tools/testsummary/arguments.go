package main

import (
	"slices"
	"strconv"
	"strings"
)

// arguments are the parsed arguments of go test.
type arguments struct {
	// flags are in their original order, each as -name=value or -name.
	flags []string
	// packages are import paths or patterns.
	packages []string
	// rest is passed to the test binaries: everything from -args on.
	rest []string
}

// withValue are the flags of go test that take a value, which can be the next argument. All others are switches.
var withValue = strings.Fields(`
	C p covermode coverpkg asmflags buildmode compiler gccgoflags gcflags installsuffix ldflags mod modfile overlay pgo pkgdir tags
	toolexec debug-actiongraph debug-trace exec o vet bench benchtime blockprofile blockprofilerate count coverprofile cpu cpuprofile
	fuzz fuzztime fuzzminimizetime list memprofile memprofilerate mutexprofile mutexprofilefraction outputdir parallel run shuffle
	skip timeout trace`)

// flagName returns the name of a flag without its value, or an empty string for other arguments.
func flagName(argument string) string {
	if !strings.HasPrefix(argument, "-") {
		return ""
	}

	name, _, _ := strings.Cut(strings.TrimLeft(argument, "-"), "=")

	return strings.TrimPrefix(name, "test.")
}

func parseArguments(given []string) arguments {
	var a arguments

	for i := 0; i < len(given); i++ {
		switch name := flagName(given[i]); {
		case name == "args":
			a.rest = given[i:]

			return a
		case name == "":
			a.packages = append(a.packages, given[i])
		case slices.Contains(withValue, name) && !strings.Contains(given[i], "=") && i+1 < len(given):
			a.flags = append(a.flags, given[i]+"="+given[i+1])
			i++
		default:
			a.flags = append(a.flags, given[i])
		}
	}

	return a
}

// has reports whether one of the flags is given.
func (a arguments) has(names ...string) bool {
	return slices.ContainsFunc(a.flags, func(flag string) bool { return slices.Contains(names, flagName(flag)) })
}

// without returns all flags except these.
func (a arguments) without(names ...string) []string {
	return slices.DeleteFunc(slices.Clone(a.flags), func(flag string) bool { return slices.Contains(names, flagName(flag)) })
}

// only returns only these flags.
func (a arguments) only(names ...string) []string {
	return slices.DeleteFunc(slices.Clone(a.flags), func(flag string) bool { return !slices.Contains(names, flagName(flag)) })
}

// command returns the arguments for go.
func (a arguments) command(flags ...string) []string {
	return slices.Concat([]string{"test", "-json"}, flags, a.flags, a.packages, a.rest)
}

// withParallel sets how many tests of a package run in parallel, unless that is given: more than the number of cores of a small
// machine, which is go test's default. Tests wait for processes, leases and each other's locks, and left two cores idle for a fifth of
// the time.
func (a arguments) withParallel(cores int) arguments {
	const least = 4

	if !a.has("parallel") {
		a.flags = append(slices.Clone(a.flags), "-parallel="+strconv.Itoa(max(least, cores)))
	}

	return a
}
