// Command maskreport reports the masker's recall and precision on its corpus, overall and by kind of secret. It fails
// if they are below what is promised.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"tarsy.dev/tarsy/internal/kit/corpus"
	"tarsy.dev/tarsy/internal/mask"
)

const (
	leastRecall    = 0.97
	leastPrecision = 0.90
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, problems io.Writer) int {
	flags := flag.NewFlagSet("maskreport", flag.ContinueOnError)
	flags.SetOutput(problems)
	seed := flags.Uint64("seed", 1, "seed of the corpus")
	hard := flags.Bool("hard", false, "judge by the hard corpus")
	verbose := flags.Bool("v", false, "print every miss")

	if err := flags.Parse(args); err != nil {
		return 2
	}

	m, err := mask.New(mask.Config{Default: mask.DefaultRules()})
	if err != nil {
		fmt.Fprintln(problems, "maskreport:", err)

		return 1
	}

	samples := corpus.Samples
	if *hard {
		samples = corpus.Hard
	}

	return report(samples(*seed), func(text string) (string, error) { return m.Result("any", text) }, *verbose, out, problems)
}

// report measures a masker with samples and returns the exit code.
func report(samples []corpus.Sample, masker func(string) (string, error), verbose bool, out, problems io.Writer) int {
	var failure error

	all, kinds := corpus.Judge(samples, func(text string) string {
		masked, err := masker(text)
		if err != nil {
			failure = err
		}

		return masked
	})
	if failure != nil {
		fmt.Fprintln(problems, "maskreport:", failure)

		return 1
	}

	printTable(out, all, kinds, verbose)

	if all.Recall() < leastRecall || all.Precision() < leastPrecision {
		fmt.Fprintf(problems, "maskreport: wanted a recall of %.2f and a precision of %.2f\n", leastRecall, leastPrecision)

		return 1
	}

	return 0
}

func printTable(out io.Writer, all corpus.Score, kinds []corpus.Score, verbose bool) {
	const row = "%-32s %8d %8d %7s %8d %8d %9s\n"

	fmt.Fprintf(out, "%-32s %8s %8s %7s %8s %8s %9s\n", "kind", "secrets", "found", "recall", "masked", "rightly", "precision")

	all.Kind = "all"
	for _, s := range append(kinds, all) {
		recall, precision := "-", "-"
		if s.Secret > 0 {
			recall = fmt.Sprintf("%.3f", s.Recall())
		}

		if s.Spans > 0 {
			precision = fmt.Sprintf("%.3f", s.Precision())
		}

		fmt.Fprintf(out, row, s.Kind, s.Secret, s.Found, recall, s.Spans, s.Right, precision)
	}

	fmt.Fprintf(out, "\nbytes hidden beside secrets: %d\n", all.Bytes)

	if len(all.Misses) > 0 && !verbose {
		fmt.Fprintf(out, "%d misses; -v prints them\n", len(all.Misses))
	}

	if verbose {
		for _, miss := range all.Misses {
			fmt.Fprintf(out, "\n%s, %s: %s\n%s\n  became\n%s\n", miss.Sample.Kind, miss.Sample.Context, miss.Why, miss.Sample.Text, miss.Masked)
		}
	}
}
