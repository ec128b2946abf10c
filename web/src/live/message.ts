/** What the server sends on a WebSocket. The types are made from docs/events.schema.json by npm run types. */
import type { components } from './schema';

type Messages = components['schemas'];

export type StageStatusMessage = Messages['stage.status'];
export type ExecutionStatusMessage = Messages['execution.status'];

/** An event of a session's journal: in order, none missed. */
export type JournalMessage =
  | Messages['session.status']
  | Messages['session.verdict']
  | StageStatusMessage
  | ExecutionStatusMessage
  | Messages['timeline_event.created']
  | Messages['timeline_event.completed']
  | Messages['approval.status']
  | Messages['chat.created']
  | Messages['chat.user_message'];

/** A person's decision on a tool call, or the request for one. */
export type Approval = Messages['approval.status']['approval'];

/** A piece of a text that is still streaming. Not in the journal, may be dropped. */
export type ChunkMessage = Messages['stream.chunk'];

/** An event of the journal of notes: which rows changed, not what they hold now. */
export type NoteMessage = Messages[
  | `note.${'captured' | 'processed' | 'failed' | 'requeued'}`
  | `entity.${'created' | 'updated' | 'organized' | 'deleted'}`
  | `review.${'created' | 'updated' | 'resolved' | 'reopened'}`
  | `${'project' | 'epic' | 'tag'}.changed`];

/** What concerns one channel. */
export type ChannelMessage =
  | JournalMessage
  | NoteMessage
  | ChunkMessage
  | Messages['catchup.overflow']
  | Messages['session.changed'];

/** What concerns the connection. */
export type ConnectionMessage =
  | Messages['connection.established']
  | Messages['subscription.confirmed']
  | Messages['subscription.removed']
  | Messages['pong']
  | Messages['error'];

/** What a client sends. */
export type Command =
  | { action: 'subscribe'; channel: string; last_event_id?: number }
  | { action: 'catchup'; channel: string; last_event_id: number }
  | { action: 'unsubscribe'; channel: string }
  | { action: 'ping' };

/** Reads a frame. The server's own tests hold it to its schema, so only the outline is looked at. */
export function parseMessage(text: string): ChannelMessage | ConnectionMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('type' in value) || typeof value.type !== 'string') return;
    return value as ChannelMessage | ConnectionMessage;
  } catch {
    return undefined;
  }
}

/** Whether a message is an event of a journal. Types that this page does not know have a number too. */
export function isRecorded(message: ChannelMessage): message is JournalMessage {
  return 'db_event_id' in message && typeof message.db_event_id === 'number';
}
