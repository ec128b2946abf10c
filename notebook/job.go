package notebook

import "time"

// The queues of notes. Each job is about one note, except in QueueReprocess.
const (
	QueueExtract   = "notes-extract"
	QueueOrganize  = "entities-organize"
	QueueReprocess = "notes-reprocess"
)

// JobState is the state of a background job.
type JobState string

// The states of jobs.
const (
	// JobWaiting waits for a free worker, or for its queue to be resumed.
	JobWaiting JobState = "waiting"
	JobRunning JobState = "running"
	// JobRetrying has failed and is retried later.
	JobRetrying JobState = "retrying"
	// JobFailed is not retried unless someone requests it.
	JobFailed    JobState = "failed"
	JobCompleted JobState = "completed"
)

// JobStates lists every state.
func JobStates() []JobState {
	return []JobState{JobWaiting, JobRunning, JobRetrying, JobFailed, JobCompleted}
}

// Job is background work.
type Job struct {
	// Grows with each job.
	ID int64 `json:"id"`
	// Kind of work.
	Kind string `json:"kind"`
	// Where it waits.
	Queue string `json:"queue"`
	// Where it is in its lifecycle.
	State JobState `json:"state"`
	// Number of the last attempt, zero before the first, and the maximum.
	Attempt     int `json:"attempt"`
	MaxAttempts int `json:"max_attempts"`
	// The note that it processes and the note's version when it was queued; nil and zero if it is about none.
	NoteID      *string `json:"note_id"`
	NoteVersion int64   `json:"note_version"`
	// Why the last attempt failed; empty if none has.
	Error string `json:"error"`
	// When it was queued.
	CreatedAt time.Time `json:"created_at"`
	// When it can start: a retried job waits until then.
	ScheduledAt time.Time `json:"scheduled_at"`
	// When the last attempt began; nil before the first.
	AttemptedAt *time.Time `json:"attempted_at"`
	// When it was completed or failed; nil before.
	FinalizedAt *time.Time `json:"finalized_at"`
}

// JobQueue is a queue with the number of its jobs by state.
type JobQueue struct {
	// Unique name of the queue.
	Name string `json:"name"`
	// Whether it starts no jobs. Running jobs are not affected.
	Paused bool `json:"paused"`
	// Jobs that have not ended.
	Waiting  int `json:"waiting"`
	Running  int `json:"running"`
	Retrying int `json:"retrying"`
	// Kept for a week.
	Failed int `json:"failed"`
}

// JobQuery selects jobs, newest first.
type JobQuery struct {
	// Empty fields match every job.
	Queue string
	State JobState
	// The ID of the last job of the previous page; zero starts with the newest.
	Before int64
	// Maximum number of jobs.
	Limit int
}

// JobPage is a page of jobs.
type JobPage struct {
	// Newest first.
	Jobs []Job
	// Start of the next page; zero on the last one.
	Next int64
	// How many jobs match in all pages.
	Total int
}
