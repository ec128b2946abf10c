/** Every way in which a page can read a field, each with a field of its own. src/api/fields.test.ts knows the answer. */
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

// An open object has the fields that are read of it.
export const open = (event: TimelineEvent) => event.metadata?.call;
export const openDestructured = (event: TimelineEvent) => {
  const { from } = event.metadata ?? {};
  return from;
};

// Types of the page's own that an answer is given to.
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
export const handedOver = (health: Health) => health.warnings.map(named);

// What is not read: the field of another type with the same name, and what is only written.
export const own = (mine: { details: string }) => mine.details;
export const written: Partial<Me> = { csrf_token: '' };
