package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// defaultLimit is the default number of listed items.
const defaultLimit = 20

// listFlags are the flags of commands that list pages from the server.
type listFlags struct {
	number int
	all    bool
}

// addListFlags adds the flags. items is the noun for their help.
func addListFlags(cmd *cobra.Command, items string) *listFlags {
	f := &listFlags{}
	cmd.Flags().IntVar(&f.number, "limit", defaultLimit, "number of "+items+" to list")
	cmd.Flags().BoolVar(&f.all, "all", false, "list all "+items)

	return f
}

// limit returns how many items to request; 0 means all.
func (f *listFlags) limit() (int, error) {
	switch {
	case f.number < 1:
		return 0, usageError{fmt.Errorf("--limit must be at least 1, not %d", f.number)}
	case f.all:
		return 0, nil
	default:
		return f.number, nil
	}
}
