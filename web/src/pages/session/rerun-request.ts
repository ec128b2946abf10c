/** Builds the request of the re-run form. */
import type { MCPSelection, RerunRequest, SessionDetail } from '@/api/types';
import {
  asConfigured,
  choicesOf,
  type NativeChoices,
  type ServerSelection,
  selectionOf,
} from '@/pages/submit/selection';

export interface RerunForm {
  chain: string;
  /** Empty for the chain's providers. */
  provider: string;
  tools: 'chain' | 'own';
  servers: ServerSelection[];
  native: NativeChoices;
}

type Original = Pick<SessionDetail, 'chain_id' | 'llm_provider' | 'mcp_selection'>;

/** Returns the form with the settings of the original run. */
export function formOf({ chain_id, llm_provider, mcp_selection }: Original): RerunForm {
  return {
    chain: chain_id,
    provider: llm_provider,
    tools: mcp_selection === null ? 'chain' : 'own',
    servers: mcp_selection?.servers ?? [],
    native: choicesOf(mcp_selection?.native_tools),
  };
}

/** Changes the chain. A tool selection is not carried over: another chain has other tools. */
export function withChain(form: RerunForm, chain: string, original: Original): RerunForm {
  if (chain === original.chain_id) return { ...formOf(original), provider: form.provider };
  return { ...form, chain, tools: 'chain', servers: [], native: asConfigured };
}

/** Returns only what differs; omitted fields keep the original values. `allowed` are the servers of the chain. */
export function requestOf(form: RerunForm, original: Original, allowed: readonly string[]): RerunRequest {
  const selection = selectionFor(form, original, allowed);
  return {
    ...(form.chain === original.chain_id ? {} : { chain_id: form.chain }),
    ...(form.provider === original.llm_provider ? {} : { llm_provider: form.provider }),
    ...(selection === undefined ? {} : { mcp_selection: selection }),
  };
}

function selectionFor(form: RerunForm, original: Original, allowed: readonly string[]): MCPSelection | undefined {
  if (form.tools === 'own') return selectionOf(form.servers, form.native);
  // With the same chain the server keeps the session's selection unless another is sent.
  const kept = original.mcp_selection !== null && form.chain === original.chain_id;
  return kept && allowed.length > 0 ? { servers: allowed.map((name) => ({ name })) } : undefined;
}
