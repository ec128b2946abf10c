/** Every query of the dashboard, each under one key: components that need the same data share one response. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, body, rememberToken } from './client';
import { joinPages, joinTimeline, joinTrace } from './pages';
import type { HandlingState, SessionStatus, Severity } from './types';

/** The filter of the session list, as in the page's address. */
export interface SessionSearch {
  status?: SessionStatus[];
  outcome?: string[];
  alert_type?: string;
  chain_id?: string;
  author?: string;
  severity?: Exclude<Severity, ''>;
  service?: string;
  namespace?: string;
  cluster?: string;
  team?: string;
  /** Each as name=value; all must match. */
  label?: string[];
  handling?: HandlingState[];
  /** A name, or `me` for the caller. */
  assignee?: string;
  /** All must match; case-insensitive. */
  tag?: string[];
  search?: string;
  /** Only sessions with calls waiting for an approval. */
  approvals?: 'waiting';
  created_after?: string;
  created_before?: string;
  order?: 'newest' | 'attention';
}

/** How many characters of each timeline event are loaded before it is opened. */
export const previewLength = 400;

const pageLength = 50;

/** How many rows of a session's timeline or trace are loaded per request; the rows have no long texts. */
const longPage = 5_000;

export const keys = {
  me: ['me'] as const,
  sessions: ['sessions'] as const,
  session: (id: string) => ['session', id] as const,
  system: ['system'] as const,
};

export const me = () =>
  queryOptions({
    queryKey: keys.me,
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const who = await body(api.GET('/api/v1/me', { signal }));
      rememberToken(who.csrf_token);
      return who;
    },
  });

export const sessions = (filter: SessionSearch) =>
  infiniteQueryOptions({
    queryKey: [...keys.sessions, 'list', filter] as const,
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      body(
        api.GET('/api/v1/sessions', {
          signal,
          params: {
            query: {
              ...filter,
              status: filter.status?.join(',') || undefined,
              outcome: filter.outcome?.join(',') || undefined,
              handling: filter.handling?.join(',') || undefined,
              order: filter.order ?? 'attention',
              limit: pageLength,
              cursor: pageParam || undefined,
            },
          },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor || undefined,
  });

export const filterOptions = () =>
  queryOptions({
    queryKey: [...keys.sessions, 'filter-options'] as const,
    queryFn: ({ signal }) => body(api.GET('/api/v1/sessions/filter-options', { signal })),
  });

export const activeSessions = () =>
  queryOptions({
    queryKey: [...keys.sessions, 'active'] as const,
    queryFn: ({ signal }) => body(api.GET('/api/v1/sessions/active', { signal })),
  });

export const session = (id: string) =>
  queryOptions({
    queryKey: [...keys.session(id), 'detail'] as const,
    queryFn: ({ signal }) => body(api.GET('/api/v1/sessions/{id}', { signal, params: { path: { id } } })),
  });

/** People's feedback on the conclusion of a session. */
export const feedback = (id: string) =>
  queryOptions({
    queryKey: [...keys.session(id), 'feedback'] as const,
    queryFn: ({ signal }) => body(api.GET('/api/v1/sessions/{id}/feedback', { signal, params: { path: { id } } })),
  });

/** How people handled a session. */
export const handling = (id: string) =>
  queryOptions({
    queryKey: [...keys.session(id), 'handling'] as const,
    queryFn: ({ signal }) => body(api.GET('/api/v1/sessions/{id}/handling', { signal, params: { path: { id } } })),
  });

/** Past sessions that resemble a session. */
export const similarSessions = (id: string) =>
  queryOptions({
    queryKey: [...keys.session(id), 'similar'] as const,
    staleTime: 60_000,
    queryFn: ({ signal }) => body(api.GET('/api/v1/sessions/{id}/similar', { signal, params: { path: { id } } })),
  });

export const timeline = (id: string) =>
  queryOptions({
    queryKey: [...keys.session(id), 'timeline'] as const,
    queryFn: ({ signal }) =>
      joinPages(
        (cursor) =>
          body(
            api.GET('/api/v1/sessions/{id}/timeline', {
              signal,
              params: { path: { id }, query: { preview: previewLength, limit: longPage, cursor } },
            }),
          ),
        joinTimeline,
      ),
  });

/** One timeline event in full, for an opened row. */
export const timelineEvent = (id: string, eventId: string) =>
  queryOptions({
    queryKey: [...keys.session(id), 'event', eventId] as const,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      body(
        api.GET('/api/v1/sessions/{id}/timeline/{event_id}', { signal, params: { path: { id, event_id: eventId } } }),
      ),
  });

export const trace = (id: string) =>
  queryOptions({
    queryKey: [...keys.session(id), 'trace'] as const,
    queryFn: ({ signal }) =>
      joinPages(
        (cursor) =>
          body(
            api.GET('/api/v1/sessions/{id}/trace', {
              signal,
              params: { path: { id }, query: { limit: longPage, cursor } },
            }),
          ),
        joinTrace,
      ),
  });

export const llmInteraction = (id: string, interactionId: string) =>
  queryOptions({
    queryKey: [...keys.session(id), 'llm', interactionId] as const,
    queryFn: ({ signal }) =>
      body(
        api.GET('/api/v1/sessions/{id}/trace/llm/{interaction_id}', {
          signal,
          params: { path: { id, interaction_id: interactionId } },
        }),
      ),
  });

export const mcpInteraction = (id: string, interactionId: string) =>
  queryOptions({
    queryKey: [...keys.session(id), 'mcp', interactionId] as const,
    queryFn: ({ signal }) =>
      body(
        api.GET('/api/v1/sessions/{id}/trace/mcp/{interaction_id}', {
          signal,
          params: { path: { id, interaction_id: interactionId } },
        }),
      ),
  });

export const alertTypes = () =>
  queryOptions({
    queryKey: ['alert-types'] as const,
    staleTime: 60_000,
    queryFn: ({ signal }) => body(api.GET('/api/v1/alert-types', { signal })),
  });

/** The polling interval of pages that show the state of the system. */
const refresh = 10_000;

/** The tools that the chain allows: the named chain, or that of the alert type. */
export const defaultTools = (alertType: string, chainId?: string) =>
  queryOptions({
    queryKey: [...keys.system, 'default-tools', alertType, chainId] as const,
    enabled: alertType !== '' || chainId !== undefined,
    refetchInterval: refresh,
    queryFn: ({ signal }) =>
      body(
        api.GET('/api/v1/system/default-tools', {
          signal,
          params: { query: { alert_type: alertType || undefined, chain_id: chainId } },
        }),
      ),
  });

export const health = () =>
  queryOptions({
    queryKey: [...keys.system, 'health'] as const,
    refetchInterval: refresh,
    queryFn: ({ signal }) => body(api.GET('/health', { signal })),
  });

export const mcpServers = () =>
  queryOptions({
    queryKey: [...keys.system, 'mcp-servers'] as const,
    refetchInterval: refresh,
    queryFn: ({ signal }) => body(api.GET('/api/v1/system/mcp-servers', { signal })),
  });

export const providers = () =>
  queryOptions({
    queryKey: [...keys.system, 'providers'] as const,
    queryFn: ({ signal }) => body(api.GET('/api/v1/system/providers', { signal })),
  });

/** The providers available for a re-run, including those that no chain uses. */
export const rerunProviders = () =>
  queryOptions({
    queryKey: [...keys.system, 'providers', 'reruns'] as const,
    queryFn: ({ signal }) =>
      body(api.GET('/api/v1/system/providers', { signal, params: { query: { for: 'reruns' } } })),
  });

export const settings = () =>
  queryOptions({
    queryKey: [...keys.system, 'config'] as const,
    queryFn: ({ signal }) => body(api.GET('/api/v1/system/config', { signal })),
  });

export const usageSummary = (from: string) =>
  queryOptions({
    queryKey: [...keys.system, 'usage', from] as const,
    queryFn: ({ signal }) => body(api.GET('/api/v1/usage/summary', { signal, params: { query: { from } } })),
  });

export const quality = (from: string, by: 'chain' | 'agent' | 'model' | 'alert_type') =>
  queryOptions({
    queryKey: ['quality', from, by] as const,
    refetchInterval: 60_000,
    queryFn: ({ signal }) => body(api.GET('/api/v1/quality', { signal, params: { query: { from, by } } })),
  });

export const apiKeys = () =>
  queryOptions({
    queryKey: [...keys.system, 'keys'] as const,
    queryFn: ({ signal }) => body(api.GET('/api/v1/keys', { signal })),
  });
