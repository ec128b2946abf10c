/** Approvals of tool calls: pending calls and decisions. Arguments are kept as their original JSON text. */
import { queryOptions } from '@tanstack/react-query';
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
    editedText: memberText(memberText(json, 'approval') ?? '', 'arguments'),
  };
}

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
