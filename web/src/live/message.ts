/** What the server sends on a WebSocket, as docs/events.md has it. Fields that the page does not read are left out. */
import type { SessionStatus, TimelineEvent } from '@/api/types';

interface Recorded {
  channel: string;
  /** The event's number in the session's journal: from 1, without gaps. */
  db_event_id: number;
  session_id: string;
  timestamp: string;
}

interface SessionStatusMessage extends Recorded {
  type: 'session.status';
  status: SessionStatus;
  concluded_early?: string;
  error_code?: string;
  error_message?: string;
}

export interface StageStatusMessage extends Recorded {
  type: 'stage.status';
  stage_id: string;
  stage_index: number;
  stage_name: string;
  stage_type: string;
  expected_agent_count: number;
  status: string;
}

export interface ExecutionStatusMessage extends Recorded {
  type: 'execution.status';
  stage_id: string;
  execution_id: string;
  agent_index: number;
  agent_name: string;
  status: string;
  error_message?: string;
}

interface TimelineCreatedMessage extends Recorded {
  type: 'timeline_event.created';
  event_id: string;
  event_type: string;
  status: string;
  content: string;
  sequence_number: number;
  stage_id?: string;
  execution_id?: string;
  metadata?: NonNullable<TimelineEvent['metadata']>;
}

interface TimelineCompletedMessage extends Recorded {
  type: 'timeline_event.completed';
  event_id: string;
  event_type: string;
  status: string;
  content: string;
  metadata?: NonNullable<TimelineEvent['metadata']>;
}

interface ChatCreatedMessage extends Recorded {
  type: 'chat.created';
  chat_id: string;
  created_by: string;
}

interface ChatAskedMessage extends Recorded {
  type: 'chat.user_message';
  chat_id: string;
  message_id: string;
  stage_id: string;
}

/** An event of a session's journal: in order, none missed. */
export type JournalMessage =
  | SessionStatusMessage
  | StageStatusMessage
  | ExecutionStatusMessage
  | TimelineCreatedMessage
  | TimelineCompletedMessage
  | ChatCreatedMessage
  | ChatAskedMessage;

/** A piece of a text on its way. Not in the journal, may be dropped. */
export interface ChunkMessage {
  type: 'stream.chunk';
  channel: string;
  event_id: string;
  delta: string;
  /** Where the piece begins, in UTF-16 units. */
  offset: number;
  /** Whose text it is: a higher number means that the text starts over. */
  fence: number;
}

interface OverflowMessage {
  type: 'catchup.overflow';
  channel: string;
  head: number;
}

interface ChangedMessage {
  type: 'session.changed';
  channel: string;
  session_id?: string;
  version?: number;
  behind?: true;
}

/** What concerns one channel. */
export type ChannelMessage = JournalMessage | ChunkMessage | OverflowMessage | ChangedMessage;

/** What concerns the connection. */
export type ConnectionMessage =
  | { type: 'connection.established' }
  | { type: 'subscription.confirmed' | 'subscription.removed'; channel: string }
  | { type: 'pong' }
  | { type: 'error'; code: string; message: string; channel?: string };

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
