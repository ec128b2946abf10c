/** Approvals of tool calls: what waits, and the decisions. Arguments are kept as the text that they are written in. */
import { queryOptions } from '@tanstack/react-query';
import { memberText } from '@/text/json-text';
import { api, body } from './client';
import type { ApprovalRequest } from './types';

/** The longest reason that the server takes. */
export const longestReason = 2_000;

/** A call that needs an approval, with the exact text of its arguments. */
export interface ApprovalCall {
  id: string;
  agent: string;
  server: string;
  tool: string;
  /** As the model wrote them. */
  argumentsText: string;
  /** As a person set them; undefined if they are unchanged. */
  editedText: string | undefined;
}

/** Reads the response as text: the numbers of arguments must stay as they are. */
export function readApproval(json: string): ApprovalCall {
  const request: ApprovalRequest = JSON.parse(json);
  return {
    id: request.id,
    agent: request.agent_name,
    server: request.server_name,
    tool: request.tool_name,
    argumentsText: memberText(json, 'tool_arguments') ?? '',
    editedText: memberText(memberText(json, 'approval') ?? '', 'arguments'),
  };
}

export const approvalKey = (id: string) => ['approval', id] as const;

/** A decision changes it once: the status is part of the key, so that the state before is not shown for the one after. */
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

/** The body of a decision. Edited arguments go out as they were typed. */
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
