/**
 * Every way in which a page can read a field, each with a different field. src/api/fields.test.ts has the expected
 * result.
 */
import type {
  APIKey,
  Health,
  Me,
  SessionDetail,
  SessionItem,
  StageDetail,
  TimelineEvent,
  Usage,
} from '../../src/api/types';

export const plain = (who: Me) => who.name;
export const chained = (detail?: SessionDetail | null) => detail?.chat?.created_by;
export const destructured = ({ chain_id: chain, ...rest }: SessionDetail) => [chain, rest.author];
export const inCallbacks = (items: SessionItem[]) =>
  items.map((item) => item.tool_calls).concat(items.map(({ version }) => version));
export const byKey = (key: APIKey, which: 'prefix' | 'revoked_at') => key[which];
export const asked = (stage: StageDetail) => 'parallel_type' in stage;
export const copied = (detail: SessionDetail) => ({ ...detail, extra: 1 }).runbook;
export const picked = (detail: Pick<SessionDetail, 'runbook_url' | 'id'>) => detail.runbook_url;

// Fields of an open object are found where they are read.
export const open = (event: TimelineEvent) => event.metadata?.call;
export const openDestructured = (event: TimelineEvent) => {
  const { from } = event.metadata ?? {};
  return from;
};

// The page's own types that a response is assigned to.
interface Priced {
  cost_usd: number;
}
const price = ({ cost_usd: cost }: Priced) => cost;
export const given = (usage: Usage) => price(usage);

function latest<T extends { completed_at: string | null }>(items: readonly T[]): T | undefined {
  return items.find((item) => item.completed_at);
}
export const generic = (stages: StageDetail[]) => latest(stages)?.stage_name;

const named = (one: { message: string }) => one.message;
export const passedToCallback = (health: Health) => health.warnings.map(named);

// Not read: a field of the same name in another type, and a field that is only written.
export const own = (mine: { details: string }) => mine.details;
export const written: Partial<Me> = { csrf_token: '' };
