/** Approvals of tool calls: pending calls and decisions. Arguments are kept as their original JSON text. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { memberText } from '@/text/json-text';
import { api, body } from './client';
import type { ApprovalRequest } from './types';

/** The longest reason that the server accepts. */
export const longestReason = 2_000;

/** A call that needs an approval, with the exact text of its arguments. */
export interface ApprovalCall {
  id: string;
  agent: string;
  server: string;
  tool: string;
  /** As the model wrote them. */
  argumentsText: string;
  /** What the agent wrote with the call; untrusted, and empty if it wrote nothing. */
  statement: string;
  earlier: ApprovalRequest['earlier'];
  /** As edited by a person; undefined if unchanged. */
  editedText: string | undefined;
}

/** Parses the response from text, so that numbers in the arguments keep their exact form. */
export function readApproval(json: string): ApprovalCall {
  const request: ApprovalRequest = JSON.parse(json);
  return {
    id: request.id,
    agent: request.agent_name,
    server: request.server_name,
    tool: request.tool_name,
    argumentsText: memberText(json, 'tool_arguments') ?? '',
    statement: request.statement,
    earlier: request.earlier,
    editedText: memberText(memberText(json, 'approval') ?? '', 'arguments'),
  };
}

export const approvalsKey = ['approvals'] as const;

/** The calls that wait, the first to expire first. */
export const waitingApprovals = () =>
  queryOptions({
    queryKey: [...approvalsKey, 'waiting'] as const,
    queryFn: ({ signal }) => body(api.GET('/api/v1/approvals', { signal })),
  });

/** The requests that no longer wait, the last one first. */
export const decidedApprovals = () =>
  infiniteQueryOptions({
    queryKey: [...approvalsKey, 'decided'] as const,
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      body(
        api.GET('/api/v1/approvals', {
          signal,
          params: { query: { status: 'decided', limit: 50, cursor: pageParam || undefined } },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor || undefined,
  });

export const approvalKey = (id: string) => ['approval', id] as const;

/**
 * The status is part of the key: a decision changes the call once, and the data of the old status is not shown for the
 * new one.
 */
export const approvalCall = (id: string, status: string) =>
  queryOptions({
    queryKey: [...approvalKey(id), status] as const,
    enabled: id !== '',
    queryFn: async ({ signal }) => {
      const path = { params: { path: { id } } };
      return readApproval(await body(api.GET('/api/v1/approvals/{id}', { ...path, parseAs: 'text', signal })));
    },
  });

export type Decision =
  | { status: 'approved'; argumentsText?: string; reason?: string }
  | { status: 'rejected'; reason: string };

/** Builds the body of a decision. Edited arguments are sent exactly as typed. */
export function decisionText(decision: Decision): string {
  const members = [];
  if (decision.status === 'approved' && decision.argumentsText !== undefined) {
    members.push(`"arguments":${decision.argumentsText}`);
  }
  if (decision.reason) members.push(`"reason":${JSON.stringify(decision.reason)}`);
  return `{${members.join()}}`;
}

export function decide(id: string, decision: Decision) {
  const request = { params: { path: { id } }, bodySerializer: () => decisionText(decision) };
  return decision.status === 'approved'
    ? body(api.POST('/api/v1/approvals/{id}/approve', { ...request, body: {} }))
    : body(api.POST('/api/v1/approvals/{id}/reject', { ...request, body: { reason: decision.reason } }));
}
