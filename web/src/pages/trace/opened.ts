import { useState } from 'react';
import { type Call, firstFailed, slowest } from './calls';

export interface OpenedCall {
  id: string;
  reason: 'failed' | 'slowest';
}

/** Returns the call that a reader most likely looks for: the first failed one, otherwise the slowest. */
export function callToOpen(calls: ReadonlyMap<string, Call>): OpenedCall | undefined {
  const failed = firstFailed(calls);
  if (failed !== undefined) return { id: failed, reason: 'failed' };
  const id = slowest(calls);
  return id === undefined ? undefined : { id, reason: 'slowest' };
}

/** Decided once, as soon as there is a call: while a session runs, the details must not change under the reader. */
export function useOpenedCall(calls: ReadonlyMap<string, Call>): OpenedCall | undefined {
  const [opened, setOpened] = useState<OpenedCall>();
  const found = opened === undefined ? callToOpen(calls) : undefined;
  if (found !== undefined) setOpened(found);
  return opened ?? found;
}
