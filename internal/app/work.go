package app

import (
	"context"
	"fmt"
	"time"

	"tarsy.dev/tarsy/internal/jobs"
	"tarsy.dev/tarsy/internal/note"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/retention"
	"tarsy.dev/tarsy/internal/writeback"
)

// jobGrace is how long jobs may continue when the server stops. A model call takes longer, but an interrupted one is just repeated.
const jobGrace = 2 * time.Second

// backgroundWork is the work besides sessions: the job queue, retention, write-back and the pipeline of notes.
type backgroundWork struct {
	queue     *jobs.Queue
	retention *retention.Retention
	notes     *note.Service
	sweeper   *note.Sweeper
	writeBack *writeback.Dispatcher
}

// wireJobs creates the job queue and everything that uses it. They stop in reverse order: whatever creates jobs first, then the queue.
func (a *App) wireJobs(targets []writeback.Target) error {
	cfg, w := a.options.Config, &a.work

	timeout := cfg.NotePipeline.Timeout
	processor := &note.Processor{
		Store:      a.notes,
		Model:      infer.Following(func() infer.Config { return a.noteModel(timeout) }),
		Confidence: cfg.NotePipeline.ConfidenceThreshold, Similarity: cfg.NotePipeline.DuplicateThreshold,
		Price: a.price, Called: a.metrics.NoteCall,
	}
	tries := note.Tries(cfg.NotePipeline.MaxAttempts)

	kept := retention.Config{
		DB: a.db, SessionRetention: time.Duration(cfg.System.Retention.SessionRetentionDays) * day, EventTTL: cfg.System.Retention.EventTTL,
		PurgeAfter: time.Duration(cfg.System.Retention.PurgeAfterDays) * day, TrimNotes: a.notes.Trim,
		Every: cfg.System.Retention.CleanupInterval, Clock: a.clock, Logger: a.logger,
	}

	senders := a.writeBackWorkers(targets)

	queue, err := jobs.New(jobs.Config{
		Pool: a.db.Jobs(), Readers: a.db.Readers(), Logger: a.logger, Keep: max(day, kept.KeepJobs()),
		Grace: max(min(jobGrace, toolGrace(cfg.Queue), releaseTime(cfg.Queue)/2), time.Millisecond),
	}, retention.NewWorkers(kept), note.NewWorkers(note.WorkersConfig{
		Store: a.notes, Processor: processor, Tries: tries, Timeout: cfg.NotePipeline.Timeout,
		Extract: cfg.NotePipeline.Concurrency.Extract, Organize: cfg.NotePipeline.Concurrency.Organize,
		Reprocess: cfg.NotePipeline.Concurrency.Reprocess, Logger: a.logger,
	}), senders)
	if err != nil {
		return err
	}

	a.onStop("the job queue", queue.Stop)

	w.queue, kept.Jobs = queue, queue

	w.retention, err = retention.New(kept)
	if err != nil {
		return fmt.Errorf("system.retention: %w", err)
	}

	a.onStop("retention", func(context.Context) error { w.retention.Stop(); return nil })

	w.notes = note.New(note.Config{
		Store: a.notes, Jobs: w.queue.Client(), Session: a.db.SessionDetail, Mask: a.maskText, Tries: tries, Logger: a.logger,
	})
	w.writeBack = writeback.NewDispatcher(writeback.DispatcherConfig{Outbox: a.outbox, Jobs: queue.Client(), Targets: targets, Clock: a.clock, Logger: a.logger})
	a.onStop("the search for announcements without a job", func(context.Context) error { w.writeBack.Stop(); return nil })

	w.sweeper = note.NewSweeper(w.notes, processor)
	a.onStop("the search for notes without a job", func(context.Context) error { w.sweeper.Stop(); return nil })

	return nil
}

// start starts the background work.
func (w *backgroundWork) start() {
	w.queue.Start()
	w.retention.Start()
	w.sweeper.Start(w.sweeper.Run)
	w.writeBack.Start()
}
