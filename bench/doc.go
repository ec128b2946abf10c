// Package bench measures what users feel: `make bench` prints the table. The figures are ratios and rates of one run
// on one machine; nothing in the tests depends on them.
package bench
