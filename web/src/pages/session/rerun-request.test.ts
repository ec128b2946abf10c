import { expect, test } from 'vitest';
import { asConfigured } from '@/pages/submit/selection';
import { formOf, requestOf, withChain } from './rerun-request';

const plain = { chain_id: 'pods', llm_provider: '', mcp_selection: null };
const selected = {
  ...plain,
  llm_provider: 'big',
  mcp_selection: { servers: [{ name: 'cluster', tools: ['get_pods'] }] },
};

test('an unchanged re-run sends no overrides', () => {
  expect(requestOf(formOf(plain), plain, ['cluster'])).toEqual({});
});

test('only changed fields are sent', () => {
  const form = { ...formOf(plain), provider: 'small', tools: 'own' as const, servers: [{ name: 'logs' }] };
  expect(requestOf(form, plain, ['cluster', 'logs'])).toEqual({
    llm_provider: 'small',
    mcp_selection: { servers: [{ name: 'logs' }] },
  });
  expect(requestOf({ ...formOf(selected), provider: '' }, selected, ['cluster'])).toMatchObject({ llm_provider: '' });
});

test('choosing all tools of the chain replaces the previous selection', () => {
  const form = { ...formOf(selected), tools: 'chain' as const };
  expect(requestOf(form, selected, ['cluster', 'logs'])).toEqual({
    mcp_selection: { servers: [{ name: 'cluster' }, { name: 'logs' }] },
  });
});

test('another chain uses its own tools; switching back restores the selection', () => {
  const other = withChain(formOf(selected), 'nodes', selected);
  expect(other).toEqual({ chain: 'nodes', provider: 'big', tools: 'chain', servers: [], native: asConfigured });
  expect(requestOf(other, selected, ['cluster'])).toEqual({ chain_id: 'nodes' });
  expect(withChain(other, 'pods', selected)).toEqual(formOf(selected));
});
