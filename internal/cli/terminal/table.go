package terminal

import (
	"regexp"
	"slices"
	"strings"
)

var divider = regexp.MustCompile(`^[\s|:-]+$`)

// endTable renders a Markdown table in columns and wraps text inside the cells.
func (m *markdown) endTable() {
	if len(m.table) == 0 {
		return
	}

	var rows [][]string

	for _, line := range m.table {
		if divider.MatchString(line) {
			continue
		}

		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}

		rows = append(rows, cells)
	}

	m.table = nil

	widths := m.columns(rows)

	for i, row := range rows {
		style := m.base
		if i == 0 {
			style = m.base.With(Bold)
		}

		m.row(row, widths, style)

		if i == 0 && len(rows) > 1 {
			m.divide(widths)
		}
	}
}

const (
	gapWidth  = 2
	minColumn = 6
)

// columns distributes the width: columns get what they need, then the widest shrink until all fit.
func (m *markdown) columns(rows [][]string) []int {
	var widths []int

	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}

			widths[i] = max(widths[i], spanWidth(m.inline(cell, Plain)))
		}
	}

	total := func() int {
		sum := gapWidth * (len(widths) - 1)
		for _, w := range widths {
			sum += w
		}

		return sum
	}

	for total() > m.width {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= minColumn {
			break
		}

		widths[widest]--
	}

	return widths
}

func spanWidth(spans []Span) int {
	sum := 0
	for _, span := range spans {
		sum += Width(span.Text)
	}

	return sum
}

func (m *markdown) row(cells []string, widths []int, style Style) {
	columns := make([][]string, len(widths))
	height := 1

	for i, cell := range cells {
		columns[i] = m.palette.Wrap(m.inline(cell, style), widths[i], "", "")
		height = max(height, len(columns[i]))
	}

	for y := range height {
		var line strings.Builder

		for i, column := range columns {
			cell := ""
			if y < len(column) {
				cell = column[y]
			}

			line.WriteString(Pad(cell, widths[i]))

			if i+1 < len(columns) {
				line.WriteString(strings.Repeat(" ", gapWidth))
			}
		}

		m.out = append(m.out, strings.TrimRight(line.String(), " "))
	}
}

func (m *markdown) divide(widths []int) {
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat("─", w)
	}

	m.out = append(m.out, m.palette.Paint(Dim, strings.Join(parts, strings.Repeat(" ", gapWidth))))
}
