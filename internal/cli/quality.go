package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

const (
	// byDay groups by the days of the period.
	byDay       = "day"
	usualDays   = 30
	longestDays = 366
	dayLength   = 24 * time.Hour
)

func qualityCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "quality", Short: "Show how good the conclusions of the last days are", GroupID: groupClient, Args: namedArgs,
		Long: `Counts the sessions that completed in the last days: their outcomes, what people think of them, the time to the verdict (median and 95th
percentile) and the cost. AGREEMENT is the share of ratings that are right. With --by agent and --by model a session counts in each
row that took part in it.`,
		Example: "  tarsy quality\n  tarsy quality --by model --days 90\n  tarsy quality --by day\n  tarsy quality -o json",
	}
	r := newRemote(t, cmd)
	by := newChoice(string(tarsy.QualityByChain), string(tarsy.QualityByAgent), string(tarsy.QualityByModel), string(tarsy.QualityByAlertType), byDay)
	cmd.Flags().Var(by, "by", "what a row is about")
	offer(cmd, "by", by.allowed)

	days := cmd.Flags().Int("days", usualDays, "how many days to count, at most 366")

	r.run(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		if *days < 1 || *days > longestDays {
			return usageError{fmt.Errorf("--days must be from 1 to %d", longestDays)}
		}

		asked := tarsy.QualityBy(by.value)
		if asked == byDay {
			asked = tarsy.QualityByChain
		}

		// The end lies after everything that has completed so far.
		to := time.Now().Add(time.Second)

		quality, err := client.Call(ctx, c, client.GetQuality, client.QualityPeriod{
			From: to.Add(-time.Duration(*days) * dayLength).UTC().Format(time.RFC3339), To: to.UTC().Format(time.RFC3339), By: asked,
		})
		if err != nil {
			return err
		}

		if r.json() {
			return t.printJSON(quality)
		}

		if quality.Total.Sessions == 0 {
			t.infof("No sessions completed in this period.")

			return nil
		}

		rows := quality.Rows
		if by.value == byDay {
			rows = quality.Days
		}

		return printQuality(t, by.value, rows, quality.Total)
	})

	return cmd
}

func printQuality(t *tool, by string, rows []tarsy.QualityRow, total tarsy.QualityRow) error {
	columns := []column{
		{name: strings.ToUpper(readable(by)), cut: true}, {name: "SESSIONS"}, {name: "AGREEMENT"}, {name: "RIGHT", optional: true},
		{name: "PARTLY", optional: true}, {name: "WRONG", optional: true}, {name: "MEDIAN TIME"}, {name: "P95 TIME", optional: true},
		{name: "COST"}, {name: "PER ALERT", optional: true},
	}
	for _, outcome := range tarsy.Outcomes() {
		columns = append(columns, column{name: strings.ToUpper(readable(string(outcome))), optional: true})
	}

	total.Key = "total"
	cells := make([][]string, 0, len(rows)+1)

	for _, row := range append(slices.Clone(rows), total) {
		cells = append(cells, qualityCells(row))
	}

	return t.table(columns, cells)
}

func qualityCells(row tarsy.QualityRow) []string {
	cells := []string{
		row.Key, strconv.Itoa(row.Sessions), "-", strconv.Itoa(row.Right), strconv.Itoa(row.Partly), strconv.Itoa(row.Wrong),
		lasted(row.TimeToVerdictP50MS), lasted(row.TimeToVerdictP95MS), costs(row.CostUSD), costs(row.CostPerAlertUSD),
	}
	if row.Agreement != nil {
		cells[2] = fmt.Sprintf("%.0f%%", *row.Agreement*100)
	}

	for _, outcome := range tarsy.Outcomes() {
		cells = append(cells, strconv.Itoa(row.Outcomes[outcome]))
	}

	return cells
}

func lasted(ms *int64) string {
	if ms == nil {
		return "-"
	}

	return terminal.Duration(time.Duration(*ms) * time.Millisecond)
}

func costs(usd *float64) string {
	if usd == nil {
		return "-"
	}

	return tarsy.FormatUSD(*usd)
}
