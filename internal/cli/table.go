package cli

import (
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/cli/terminal"
)

const (
	tableGap = 2
	// narrowCell is how far a column that can be cut shrinks before an optional column is dropped; minCell is its minimum width.
	narrowCell = 12
	minCell    = 8
)

// column is one column of a table.
type column struct {
	name string
	// cut allows truncating the cells if the terminal is too narrow.
	cut bool
	// optional drops the whole column if truncating is not enough, the rightmost first. In a terminal it also drops
	// the column if all its cells are empty.
	optional bool
	// style returns the style of a cell; nil leaves it plain.
	style func(cell string) terminal.Style
}

// table prints rows below their headings. In a terminal it fits the width; elsewhere nothing is cut, because a
// program reads it. Cells are cleaned.
func (o *output) table(columns []column, rows [][]string) error {
	return o.tableIn(o.columns(o.Stdout), columns, rows)
}

// tableIn prints a table that fits a width. If the width is zero, nothing is cut or dropped.
func (o *output) tableIn(width int, columns []column, rows [][]string) error {
	head := make([]string, len(columns))
	for i, c := range columns {
		head[i] = c.name
	}

	rows = append([][]string{head}, rows...)
	widths := cleanCells(rows)

	if width > 0 {
		dropEmpty(columns, widths, rows[1:])
		widths = fitColumns(columns, widths, width)
	}

	palette := o.palette(o.Stdout)

	for i, row := range rows {
		if err := o.printf("%s\n", tableRow(palette, columns, widths, row, i == 0)); err != nil {
			return err
		}
	}

	return nil
}

// cleanCells makes all cells safe to print and returns the column widths.
func cleanCells(rows [][]string) []int {
	widths := make([]int, len(rows[0]))

	for _, row := range rows {
		for i, cell := range row {
			row[i] = terminal.Line(cell)
			widths[i] = max(widths[i], terminal.Width(row[i]))
		}
	}

	return widths
}

// dropEmpty sets the width of optional columns without a value to 0.
func dropEmpty(columns []column, widths []int, rows [][]string) {
	for i, c := range columns {
		if c.optional && !slices.ContainsFunc(rows, func(row []string) bool { return row[i] != "" }) {
			widths[i] = 0
		}
	}
}

// fitColumns returns widths that fit the terminal. A column of width 0 is dropped. Columns that must not be cut are cut last, the first
// column, which identifies a row, after all others.
func fitColumns(columns []column, widths []int, width int) []int {
	cut := func(i int) bool { return columns[i].cut }

	for i := len(columns) - 1; i >= 0 && tableWidth(cutTo(widths, narrowCell, cut)) > width; i-- {
		if columns[i].optional {
			widths[i] = 0
		}
	}

	shrink(widths, cutTo(widths, minCell, cut), width)
	shrink(widths, cutTo(widths, minCell, func(i int) bool { return i > 0 }), width)
	shrink(widths, cutTo(widths, minCell, func(int) bool { return true }), width)

	return widths
}

// shrink shrinks the widest columns, not below their floors, until the table fits.
func shrink(widths, floors []int, width int) {
	for excess := tableWidth(widths) - width; excess > 0; excess-- {
		widest := -1

		for i := range widths {
			if widths[i] > floors[i] && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}

		if widest < 0 {
			return
		}

		widths[widest]--
	}
}

// cutTo returns the widths with the selected columns limited to cell.
func cutTo(widths []int, cell int, selected func(i int) bool) []int {
	cut := slices.Clone(widths)

	for i := range cut {
		if selected(i) {
			cut[i] = min(widths[i], cell)
		}
	}

	return cut
}

func tableWidth(widths []int) int {
	sum := -tableGap

	for _, width := range widths {
		if width > 0 {
			sum += width + tableGap
		}
	}

	return sum
}

func tableRow(palette terminal.Palette, columns []column, widths []int, row []string, head bool) string {
	var line strings.Builder

	pending := 0 // spaces before the next cell, to avoid trailing ones

	for i, cell := range row {
		if widths[i] == 0 {
			continue
		}

		cell = terminal.Truncate(cell, widths[i])
		style := terminal.Plain

		switch {
		case head:
			style = terminal.Bold
		case columns[i].style != nil:
			style = columns[i].style(row[i])
		}

		if cell != "" {
			line.WriteString(strings.Repeat(" ", pending))
			line.WriteString(palette.Paint(style, cell))

			pending = 0
		}

		pending += widths[i] - terminal.Width(cell) + tableGap
	}

	return line.String()
}
