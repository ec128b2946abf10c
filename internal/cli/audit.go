package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

// maxAuditLine is the size of the longest line of an exported log. Texts in the log are bounded.
const maxAuditLine = 1 << 20

func auditCommand(t *tool) *cobra.Command {
	return listGroup(t, &cobra.Command{
		Use: "audit", Short: "List, export and verify the audit log",
		Long: `The audit log records who did what. Rows are numbered without gaps and each contains the hash of the previous one, so that a row
which was changed, removed, inserted or moved is found. It requires a key with the scope admin.`,
		Example: "  tarsy audit list --actor ana --since 2026-11-01T00:00:00Z\n  tarsy audit export -f audit.jsonl\n  tarsy audit verify --file audit.jsonl",
	}, &cobra.Command{
		Short:   "List the audit log, newest first",
		Example: "  tarsy audit list\n  tarsy audit list --action session.cancel --since 2026-11-01T00:00:00Z\n  tarsy audit list --target-id 01a1dd6b-e57b-71ff-adf3-94e9e51a62a9 -o json",
	}, listingAudit, exportAuditCommand(t), verifyAuditCommand(t))
}

// listingAudit sets up cmd to list the audit log.
func listingAudit(t *tool, cmd *cobra.Command) {
	r := newList(t, cmd)

	var filter client.AuditFilter

	flags := cmd.Flags()
	flags.StringVar(&filter.Actor, "actor", "", "only what this actor did")
	flags.StringVar(&filter.Action, "action", "", "only this action, such as session.cancel")
	flags.StringVar(&filter.TargetType, "target-type", "", "only changes of this kind of thing, such as session")
	flags.StringVar(&filter.TargetID, "target-id", "", "only changes of the thing with this id")
	flags.StringVar(&filter.Since, "since", "", "only from this time on, such as 2026-11-15T10:00:00Z")
	flags.StringVar(&filter.Until, "until", "", "only before this time")
	runList(r, cmd, "rows", client.ListAudit, &filter, nil, view[tarsy.AuditEntry]{
		none: "No rows found.",
		name: func(e tarsy.AuditEntry) string { return fmt.Sprint(e.ID) },
		columns: []column{
			{name: "ROW"}, {name: "TIME"}, {name: "ACTOR", cut: true}, {name: "BY", optional: true}, {name: "ACTION"}, {name: "TARGET", cut: true}, {name: "OUTCOME"},
		},
		row: func(e tarsy.AuditEntry) []string {
			return []string{
				fmt.Sprint(e.ID), e.At.UTC().Format(time.RFC3339), e.Actor, string(e.ActorKind), e.Action, strings.TrimSpace(e.TargetType + " " + e.TargetID), e.Outcome,
			}
		},
	})
}

func exportAuditCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "export", Short: "Export the whole audit log as JSON lines, oldest first", Args: namedArgs,
		Example: "  tarsy audit export -f audit.jsonl\n  tarsy audit export | gzip > audit.jsonl.gz",
	}
	r := &remote{tool: t, connection: connectionFlags(cmd)}
	file := cmd.Flags().StringP("file", "f", "", "file to write to (default: stdout)")

	r.run(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		rows := client.List(ctx, c, client.ListAudit, client.AuditFilter{Order: client.OldestFirst}, 0)

		if *file == "" {
			_, err := writeAudit(jsonLines{t}, rows)

			return err
		}

		var v audit.Verifier

		err := replaceFile(*file, func(out io.Writer) error {
			var err error

			v, err = writeAudit(out, rows)

			return err
		})
		if err != nil {
			return err
		}

		t.infof("%d rows written to %s. Head: %s", v.Count(), terminal.Line(*file), v.Head())

		return nil
	})

	return cmd
}

// jsonLines prints JSON lines without control sequences.
type jsonLines struct{ *tool }

// Write implements io.Writer.
func (l jsonLines) Write(line []byte) (int, error) {
	return len(line), l.printf("%s", terminal.JSON(line))
}

// writeAudit writes rows as JSON lines. It verifies them on the way to compute the head; a broken log is still exported.
func writeAudit(out io.Writer, rows iter.Seq2[tarsy.AuditEntry, error]) (audit.Verifier, error) {
	var v audit.Verifier

	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)

	for row, err := range rows {
		if err == nil {
			err = encoder.Encode(row)
		}

		if err != nil {
			return v, err
		}

		_ = v.Add(row)
	}

	return v, nil
}

// verification is the output of tarsy audit verify.
type verification struct {
	Rows int64  `json:"rows"`
	Head string `json:"head"`
	// LastSeen is the head from the previous verification of the server's log, which the log still contains.
	LastSeen *seenHead `json:"last_seen,omitempty"`
}

func verifyAuditCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify", Short: "Verify that no row of the audit log was changed, removed or inserted", Args: namedArgs,
		Long: `Checks every row of the server's audit log, or of an exported file without a server, and prints the first row that is wrong, or the
number of rows and the head: the hash of the last row.

The head of a server's log is remembered in $XDG_STATE_HOME/tarsy/audit-heads.json (~/.local/state/tarsy/audit-heads.json). The next
verification fails if that row is gone because the log was truncated or rewritten. After a restore from a backup,
accept the log as it is with --forget-head. For files, and to be independent of this machine, keep the head somewhere else and
pass it to --expect-head.`,
		Example: "  tarsy audit verify\n  tarsy audit verify --forget-head\n  tarsy audit verify --file audit.jsonl\n  tarsy audit verify --expect-head 5f3a9c21…",
	}
	r := newRemote(t, cmd)
	file := cmd.Flags().String("file", "", "verify this exported file instead of the server's log")
	expected := cmd.Flags().String("expect-head", "", "fail unless the log contains the row with this hash")
	forget := cmd.Flags().Bool("forget-head", false, "accept the server's log although the head that was seen last may be missing")
	cmd.MarkFlagsMutuallyExclusive("file", "forget-head")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var (
			found verification
			err   error
		)

		if hash := strings.ToLower(*expected); *file != "" {
			found, err = verifyRows(readAudit(*file), hash, seenHead{})
		} else {
			found, err = verifyServer(cmd.Context(), r, hash, *forget)
		}

		if err != nil {
			return err
		}

		if r.json() {
			return t.printJSON(found)
		}

		unchanged := ""
		if found.LastSeen != nil {
			unchanged = fmt.Sprintf("Unchanged since %s: row %d.\n", found.LastSeen.time(), found.LastSeen.Rows)
		}

		return t.printf("%d rows verified.\n%sHead: %s\n", found.Rows, unchanged, found.Head)
	}

	return cmd
}

// verifyServer verifies the log of a server, also against the head seen last, and remembers the new head.
func verifyServer(ctx context.Context, r *remote, expected string, forget bool) (verification, error) {
	c, err := r.open()
	if err != nil {
		return verification{}, err
	}
	defer c.Close()

	var (
		last  seenHead
		heads = rememberedHeads(r.tool)
	)

	if !forget {
		if last, err = heads.last(c.Server()); err != nil {
			return verification{}, err
		}
	}

	found, err := verifyRows(client.List(ctx, c, client.ListAudit, client.AuditFilter{Order: client.OldestFirst}, 0), expected, last)
	if err != nil {
		return verification{}, err
	}

	if err := heads.remember(c.Server(), seenHead{Rows: found.Rows, Head: found.Head, At: time.Now().UTC().Truncate(time.Second)}, forget); err != nil {
		r.infof("warning: the head is not remembered for the next verification: %s", terminal.Line(err.Error()))
	}

	return found, nil
}

var errHeadMissing = errors.New("the audit log does not contain the row of --expect-head: it was truncated or rewritten")

// verifyRows checks the rows. One of them must have the expected hash, unless that is empty, and the last seen head must still be at its
// position, unless there is none.
func verifyRows(rows iter.Seq2[tarsy.AuditEntry, error], expected string, last seenHead) (verification, error) {
	var v audit.Verifier

	seen := expected == "" || expected == v.Head()
	kept := last.Rows == 0

	for row, err := range rows {
		if err == nil {
			err = v.Add(row)
		}

		if broken, ok := errors.AsType[*audit.BrokenError](err); ok {
			return verification{}, fmt.Errorf("the audit log is broken at %w. %d rows before it are intact", broken, v.Count())
		}

		if err != nil {
			return verification{}, err
		}

		seen = seen || row.Hash == expected
		kept = kept || row.ID == last.Rows && row.Hash == last.Head
	}

	if !kept {
		return verification{}, last.missing(v.Count())
	}

	if !seen {
		return verification{}, fmt.Errorf("%w. It has %d rows, and its head is %s", errHeadMissing, v.Count(), v.Head())
	}

	found := verification{Rows: v.Count(), Head: v.Head()}
	if last.Rows > 0 {
		found.LastSeen = &last
	}

	return found, nil
}

// readAudit reads an exported file line by line.
func readAudit(name string) iter.Seq2[tarsy.AuditEntry, error] {
	return func(yield func(tarsy.AuditEntry, error) bool) {
		file, err := os.Open(name)
		if err != nil {
			yield(tarsy.AuditEntry{}, fmt.Errorf("read the audit log: %w", err))

			return
		}
		defer func() { _ = file.Close() }()

		lines := bufio.NewScanner(file)
		lines.Buffer(nil, maxAuditLine)

		for number := 1; lines.Scan(); number++ {
			row, err := auditLine(lines.Bytes())
			if err != nil {
				err = fmt.Errorf("%s, line %d is not a row of an exported audit log: %w", name, number, err)
			}

			if !yield(row, err) || err != nil {
				return
			}
		}

		if err := lines.Err(); err != nil {
			yield(tarsy.AuditEntry{}, fmt.Errorf("read the audit log: %w", err))
		}
	}
}

func auditLine(line []byte) (tarsy.AuditEntry, error) {
	var row tarsy.AuditEntry

	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()

	if err := decoder.Decode(&row); err != nil {
		return row, err
	}

	if _, err := decoder.Token(); err != io.EOF {
		return row, errors.New("it has more than one value")
	}

	return row, nil
}
