/** The messages of the WebSocket. `npm run types` generates their types from docs/events.schema.json. */
import type { components } from './schema';

type Messages = components['schemas'];

export type StageStatusMessage = Messages['stage.status'];
export type ExecutionStatusMessage = Messages['execution.status'];

/** An event of a session's journal: delivered in order, none missing. */
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

/** A piece of a streaming text. Not in the journal; may be dropped. */
export type ChunkMessage = Messages['stream.chunk'];

/** An event of the notes journal: which rows changed, but not their content. */
export type NoteMessage = Messages[
  | `note.${'captured' | 'processed' | 'failed' | 'requeued'}`
  | `entity.${'created' | 'updated' | 'organized' | 'deleted'}`
  | `review.${'created' | 'updated' | 'resolved' | 'reopened'}`
  | `${'project' | 'epic' | 'tag'}.changed`];

/** Messages about one channel. */
export type ChannelMessage =
  | JournalMessage
  | NoteMessage
  | ChunkMessage
  | Messages['catchup.overflow']
  | Messages['session.changed'];

/** Messages about the connection. */
export type ConnectionMessage =
  | Messages['connection.established']
  | Messages['subscription.confirmed']
  | Messages['subscription.removed']
  | Messages['pong']
  | Messages['error'];

/** Messages from the client. */
export type Command =
  | { action: 'subscribe'; channel: string; last_event_id?: number }
  | { action: 'catchup'; channel: string; last_event_id: number }
  | { action: 'unsubscribe'; channel: string }
  | { action: 'ping' };

/** Parses a frame. The server's own tests check it against the schema, so only its outline is checked here. */
export function parseMessage(text: string): ChannelMessage | ConnectionMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('type' in value) || typeof value.type !== 'string') return;
    return value as ChannelMessage | ConnectionMessage;
  } catch {
    return undefined;
  }
}

/** Reports whether a message is a journal event. Event types unknown to this page have a number too. */
export function isRecorded(message: ChannelMessage): message is JournalMessage {
  return 'db_event_id' in message && typeof message.db_event_id === 'number';
}
