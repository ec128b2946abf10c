import { expect, test } from 'vitest';
import { FakeClock } from './fake/clock';
import type { ChannelMessage } from './message';
import { followNotes, type Topic, topicsOf } from './notes';
import type { Subscriber } from './socket';

/** Follows the notes channel with a test as the server. */
function follow() {
  const clock = new FakeClock();
  const reports: string[][] = [];
  const made: { subscriber?: Subscriber; ended: boolean } = { ended: false };
  const stop = followNotes(
    {
      state: () => 'open',
      onState: () => () => {},
      subscribe(channel, subscriber) {
        expect(channel).toBe('notes');
        made.subscriber = subscriber;
        return { catchUp: () => {}, end: () => (made.ended = true) };
      },
    },
    clock,
    (changed: ReadonlySet<Topic>) => reports.push([...changed].sort()),
  );
  const receive = (message: object) => made.subscriber?.received(message as ChannelMessage);
  return { clock, reports, made, stop, receive };
}

test('a burst of events is reported once with all changed topics', async () => {
  const { clock, reports, receive, made } = follow();
  for (let n = 1; n <= 30; n++) receive({ type: 'tag.changed', channel: 'notes', db_event_id: n });
  receive({ type: 'project.changed', channel: 'notes', db_event_id: 31 });
  await clock.advance(600);
  expect(reports).toEqual([['entities', 'projects', 'review', 'tags']]);
  // After a lost connection, only later events are requested.
  expect(made.subscriber?.position?.()).toBe(31);
});

test('a confirmation or an overflow reports all topics', async () => {
  const { clock, reports, receive, made } = follow();
  const everything = ['entities', 'jobs', 'notes', 'projects', 'review', 'tags'];
  expect(made.subscriber?.position?.()).toBeUndefined();
  made.subscriber?.confirmed();
  await clock.advance(600);
  receive({ type: 'catchup.overflow', channel: 'notes', head: 431 });
  await clock.advance(600);
  expect(reports).toEqual([everything, everything]);
  expect(made.subscriber?.position?.()).toBe(431);
});

test('nothing is reported after the subscription has ended', async () => {
  const { clock, reports, receive, made, stop } = follow();
  receive({ type: 'note.captured', channel: 'notes', db_event_id: 1 });
  stop();
  await clock.advance(5_000);
  expect(reports).toEqual([]);
  expect(made.ended).toBe(true);
  expect(clock.pending).toBe(0);
});

test('an event of an unknown type reports all topics', () => {
  expect(topicsOf('review.resolved')).toContain('review');
  expect(topicsOf('something.new')).toContain('jobs');
});
