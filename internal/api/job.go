package api

import (
	"context"
	"strconv"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/notebook"
)

type jobListInput struct {
	Queue  string                 `doc:"Jobs of this queue only." query:"queue"`
	State  one[notebook.JobState] `doc:"Jobs in this state only." query:"state"`
	Limit  integer                `doc:"Maximum number of jobs per page." query:"limit"`
	Cursor cursor                 `doc:"The next_cursor of the previous page." query:"cursor"`
}

type jobListOutput struct{ Body jobList }

type jobList struct {
	Queues     []notebook.JobQueue `doc:"All queues of the server with the number of their jobs." json:"queues"`
	Jobs       []notebook.Job      `doc:"Newest first."                                          json:"jobs"`
	NextCursor string              `doc:"Cursor of the next page; absent on the last page."      json:"next_cursor,omitempty"`
	Total      int                 `doc:"Number of jobs that match, over all pages."             json:"total"`
}

type jobInput struct {
	ID string `doc:"The id of a job." path:"id"`
}

type jobOutput struct{ Body notebook.Job }

type queueInput struct {
	Name string `doc:"The name of a queue." path:"name"`
}

type queueOutput struct{ Body notebook.JobQueue }

// jobCursor is a position in the list of jobs.
type jobCursor struct {
	ID int64 `json:"i"`
}

func (s *system) listJobs(ctx context.Context, in *jobListInput) (*jobListOutput, error) {
	query, err := in.query()
	if err != nil {
		return nil, err
	}

	queues, err := s.jobs.Overview(ctx)
	if err != nil {
		return nil, err
	}

	page, err := s.jobs.Jobs(ctx, query)
	if err != nil {
		return nil, err
	}

	out := &jobListOutput{Body: jobList{Queues: append([]notebook.JobQueue{}, queues...), Jobs: append([]notebook.Job{}, page.Jobs...), Total: page.Total}}

	if page.Next != 0 {
		out.Body.NextCursor, err = encodeCursor(jobCursor{ID: page.Next})
	}

	return out, err
}

func (in *jobListInput) query() (query notebook.JobQuery, err error) {
	if err = readParameters(in, &query); err != nil {
		return query, err
	}

	query.Queue = shown(query.Queue)
	query.Before, err = readNumberCursor(in.Cursor, func(place jobCursor) int64 { return place.ID })

	return query, err
}

func (s *system) retryJob(ctx context.Context, in *jobInput) (*jobOutput, error) {
	who := callerOf(ctx)

	err := checkNothing(who)
	if err != nil {
		return nil, err
	}

	id, err := strconv.ParseInt(in.ID, 10, 64)
	if err != nil {
		return nil, tarsy.Errorf(tarsy.CodeJobNotFound, "there is no job %q", shown(in.ID))
	}

	err = s.notes.RetryJob(ctx, id, who.author)
	if err != nil {
		return nil, err
	}

	job, err := s.jobs.Job(ctx, id)
	if err != nil {
		return nil, err
	}

	return &jobOutput{Body: job}, nil
}

func (s *system) pauseQueue(ctx context.Context, in *queueInput) (*queueOutput, error) {
	return s.controlQueue(ctx, in, "queue paused", s.jobs.Pause)
}

func (s *system) resumeQueue(ctx context.Context, in *queueInput) (*queueOutput, error) {
	return s.controlQueue(ctx, in, "queue resumed", s.jobs.Resume)
}

// controlQueue changes a queue and returns its new state.
func (s *system) controlQueue(ctx context.Context, in *queueInput, message string, change func(context.Context, string) error) (*queueOutput, error) {
	who := callerOf(ctx)

	err := checkNothing(who)
	if err != nil {
		return nil, err
	}

	err = change(ctx, shown(in.Name))
	if err != nil {
		return nil, err
	}

	s.logger.InfoContext(ctx, message, append(who.logged(), "queue", in.Name)...)

	queues, err := s.jobs.Overview(ctx)
	if err != nil {
		return nil, err
	}

	for _, queue := range queues {
		if queue.Name == in.Name {
			return &queueOutput{Body: queue}, nil
		}
	}

	return nil, tarsy.Errorf(tarsy.CodeQueueNotFound, "there is no queue %q", shown(in.Name))
}
