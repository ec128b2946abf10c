package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

var (
	errNoRating       = errors.New("say what you think of the conclusion: right, partly or wrong")
	errDeleteAndRate  = errors.New("--delete withdraws your feedback: leave the rating, --why and --cause out")
	errCauseWithRight = errors.New("a conclusion that is right has no other cause: leave --cause out, or choose partly or wrong")
)

func feedbackCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "feedback SESSION [RATING]", Short: "Rate the conclusion of a session, or list what people think of it", GroupID: groupClient, Args: namedArgs,
		Long: `Rates the conclusion of a session that has ended as right, partly or wrong. Giving feedback again replaces yours. Without a rating it
lists the feedback of everybody.`,
		Example: `  tarsy feedback 5f3a9c21 right
  tarsy feedback 5f3a9c21 wrong --why "the pod was fine" --cause "an expired certificate"
  tarsy feedback 5f3a9c21
  tarsy feedback 5f3a9c21 --delete`,
	}
	r := newList(t, cmd)

	var (
		given    client.NewFeedback
		withdraw bool
	)

	flags := cmd.Flags()
	flags.StringVar(&given.Why, "why", "", "why you think so")
	flags.StringVar(&given.RealCause, "cause", "", "what the cause really was")
	flags.BoolVar(&withdraw, "delete", false, "withdraw your feedback")
	r.offerSessions(cmd)
	offerRatings(cmd)

	r.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		if len(args) > 1 {
			given.Rating = args[1]
		}

		if err := checkFeedback(given, withdraw); err != nil {
			return usageError{err}
		}

		id, err := c.Resolve(ctx, args[0])

		switch {
		case err != nil:
			return err
		case withdraw:
			if _, err := client.Call(ctx, c, client.WithdrawFeedback, nil, id); err != nil {
				return err
			}

			t.infof("Your feedback on session %s is withdrawn.", short(id))

			return nil
		case given.Rating == "":
			return listFeedback(ctx, r, c, id)
		}

		stored, err := client.Call(ctx, c, client.GiveFeedback, given, id)
		if err != nil {
			return err
		}

		return r.report(stored, "", "Feedback of %s on session %s: %s.", terminal.Line(stored.Author), short(id), stored.Rating)
	})

	return cmd
}

// offerRatings completes the second argument with ratings.
func offerRatings(cmd *cobra.Command) {
	sessions := cmd.ValidArgsFunction

	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, part string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) != 1 {
			return sessions(cmd, args, part)
		}

		var offered []cobra.Completion
		for _, rating := range tarsy.Ratings() {
			offered = append(offered, string(rating))
		}

		return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// checkFeedback validates the flags before the server is called.
func checkFeedback(given client.NewFeedback, withdraw bool) error {
	hasText := given.Why != "" || given.RealCause != ""

	switch {
	case withdraw && (hasText || given.Rating != ""):
		return errDeleteAndRate
	case !withdraw && hasText && given.Rating == "":
		return errNoRating
	case given.Rating == string(tarsy.RatingRight) && given.RealCause != "":
		return errCauseWithRight
	}

	return nil
}

func listFeedback(ctx context.Context, r *remote, c *client.Client, id string) error {
	found, err := client.All(client.List(ctx, c, client.ListFeedback, nil, 0, id))

	return showList(r, found, err, view[tarsy.Feedback]{
		name: func(f tarsy.Feedback) string { return f.ID },
		none: "No feedback yet. Give yours with: tarsy feedback " + short(id) + " right",
		columns: []column{
			{name: "RATING", style: ratingStyle}, {name: "AUTHOR", cut: true}, {name: "AGE"}, {name: "WHY", cut: true, optional: true},
			{name: "REAL CAUSE", cut: true, optional: true},
		},
		row: func(f tarsy.Feedback) []string {
			return []string{string(f.Rating), f.Author, terminal.Age(time.Since(f.UpdatedAt)), f.Why, f.RealCause}
		},
	})
}

func ratingStyle(rating string) terminal.Style {
	switch tarsy.Rating(rating) {
	case tarsy.RatingRight:
		return terminal.Green
	case tarsy.RatingPartly:
		return terminal.Yellow
	case tarsy.RatingWrong:
		return terminal.Red
	}

	return terminal.Plain
}
