/** The state of the form, where it comes from, and the request built from it. */
import type { AlertRequest, SessionDetail } from '@/api/types';
import { bytes } from '@/text/format';
import { byteLength, formats, maxBytes, type PayloadFormat, recognise } from './payload';
import {
  asConfigured,
  choicesOf,
  type NativeChoices,
  nativeChoices,
  nativeTools,
  type ServerSelection,
  selectionOf,
} from './selection';

const runbookKinds = ['none', 'url', 'text'] as const;
export type RunbookKind = (typeof runbookKinds)[number];
const toolSources = ['chain', 'own'] as const;
export type ToolSource = (typeof toolSources)[number];

export interface SubmitForm {
  /** Empty for the default type. */
  alertType: string;
  format: PayloadFormat;
  payload: string;
  runbook: RunbookKind;
  runbookURL: string;
  runbookText: string;
  tools: ToolSource;
  servers: ServerSelection[];
  native: NativeChoices;
}

export const emptyForm: SubmitForm = {
  alertType: '',
  format: 'text',
  payload: '',
  runbook: 'none',
  runbookURL: '',
  runbookText: '',
  tools: 'chain',
  servers: [],
  native: asConfigured,
};

/** Returns a form that resubmits a session's alert. */
export function formOf(session: SessionDetail): SubmitForm {
  const selection = session.mcp_selection;
  return {
    alertType: session.alert_type,
    format: recognise(session.alert_data),
    payload: session.alert_data,
    runbook: session.runbook_url !== '' ? 'url' : session.runbook !== '' ? 'text' : 'none',
    runbookURL: session.runbook_url,
    runbookText: session.runbook_url !== '' ? '' : session.runbook,
    tools: selection === null ? 'chain' : 'own',
    servers: selection?.servers ?? [],
    native: choicesOf(selection?.native_tools),
  };
}

/** Returns the request without its data; bodyOf adds the data as the exact text that the check returned. */
export function requestOf(form: SubmitForm, alertType: string): Omit<AlertRequest, 'data'> {
  const request: Omit<AlertRequest, 'data'> = {};
  if (alertType !== '') request.alert_type = alertType;
  if (form.runbook === 'url' && form.runbookURL.trim() !== '') request.runbook_url = form.runbookURL.trim();
  if (form.runbook === 'text' && form.runbookText.trim() !== '') request.runbook = form.runbookText;
  if (form.tools === 'own') request.mcp_selection = selectionOf(form.servers, form.native);
  return request;
}

export function bodyOf(request: Omit<AlertRequest, 'data'>, data: string): string {
  const rest = JSON.stringify(request).slice(1);
  return `{"data":${data}${rest === '}' ? '' : ','}${rest}`;
}

/** Returns why a body is too large to send; null if it is not. */
export function tooLarge(body: string): string | null {
  const size = byteLength(body);
  if (size <= maxBytes) return null;
  return `The request is ${bytes(size)}; the limit is ${bytes(maxBytes)}, including runbook and tools.`;
}

/** The part of the form that a problem's `field` refers to; null if it refers to none. */
export type FormPart = 'alert_type' | 'data' | 'runbook' | 'runbook_url' | 'mcp_selection';
const parts: readonly FormPart[] = ['alert_type', 'data', 'runbook', 'runbook_url', 'mcp_selection'];

export function partOf(field: string, code: string): FormPart | null {
  const name = /^[a-z_]+/.exec(field)?.[0];
  if (field === '' && code === 'payload_too_large') return 'data';
  return parts.find((part) => part === name) ?? null;
}

const partsByField: Record<keyof SubmitForm, readonly FormPart[]> = {
  alertType: ['alert_type'],
  format: ['data'],
  payload: ['data'],
  runbook: ['runbook', 'runbook_url'],
  runbookURL: ['runbook', 'runbook_url'],
  runbookText: ['runbook', 'runbook_url'],
  tools: ['mcp_selection'],
  servers: ['mcp_selection'],
  native: ['mcp_selection'],
};

/** Returns the parts that a change of the form affects. */
export function partsChanged(change: Partial<SubmitForm>): FormPart[] {
  const fields = Object.keys(change) as (keyof SubmitForm)[];
  return [...new Set(fields.flatMap((field) => partsByField[field]))];
}

/** Parses a saved draft. It can be anything: an older version or a person may have written it. */
export function draftOf(stored: string): SubmitForm | null {
  let value: unknown;
  try {
    value = JSON.parse(stored);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const draft = value as Record<string, unknown>;
  const text = (key: string) => (typeof draft[key] === 'string' ? (draft[key] as string) : '');
  const one = <T extends string>(key: string, of: readonly T[], otherwise: T) =>
    of.find((item) => item === draft[key]) ?? otherwise;
  return {
    alertType: text('alertType'),
    format: one('format', formats, 'text'),
    payload: text('payload'),
    runbook: one('runbook', runbookKinds, 'none'),
    runbookURL: text('runbookURL'),
    runbookText: text('runbookText'),
    tools: one('tools', toolSources, 'chain'),
    servers: readServers(draft.servers),
    native: readNative(draft.native),
  };
}

function readServers(value: unknown): ServerSelection[] {
  if (!Array.isArray(value)) return [];
  const servers = new Map<string, ServerSelection>();
  for (const item of value as unknown[]) {
    if (typeof item !== 'object' || item === null) continue;
    const { name, tools } = item as { name?: unknown; tools?: unknown };
    if (typeof name !== 'string' || name === '') continue;
    const names = Array.isArray(tools)
      ? tools.filter((tool): tool is string => typeof tool === 'string' && tool !== '')
      : [];
    servers.set(name, names.length === 0 ? { name } : { name, tools: [...new Set(names)] });
  }
  return [...servers.values()];
}

function readNative(value: unknown): NativeChoices {
  if (typeof value !== 'object' || value === null) return asConfigured;
  const stored = value as Record<string, unknown>;
  const choices = { ...asConfigured };
  for (const tool of nativeTools)
    choices[tool] = nativeChoices.find((choice) => choice === stored[tool]) ?? 'configured';
  return choices;
}

/** Reports whether a form contains nothing that a person would miss. */
export function isEmpty(form: SubmitForm): boolean {
  return (
    form.payload.trim() === '' &&
    form.runbookURL.trim() === '' &&
    form.runbookText.trim() === '' &&
    form.servers.length === 0
  );
}
