import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seriesOf } from './series';

const times = [1_000, 1_060, 1_120];
const points = (values: readonly unknown[]) => values.map((value, n) => [times[n], value]);
const matrix = (result: unknown) => ({ resultType: 'matrix', result });
const one = { metric: { __name__: 'up', job: 'web', pod: 'web-1' }, values: points(['1', '0', '1']) };
const other = { metric: { __name__: 'up', job: 'web', pod: 'web-2' }, values: points(['2', 'NaN', '+Inf']) };

test('a range query is recognized with or without its envelope', () => {
  for (const value of [matrix([one]), { status: 'success', data: matrix([one]) }, [one]]) {
    for (const text of [JSON.stringify(value), `\n${JSON.stringify(value, null, 2)}`]) {
      expect(seriesOf(text)).toEqual({
        series: [{ name: 'up{job="web", pod="web-1"}', last: 1, least: 0, most: 1 }],
        times,
        values: [[1, 0, 1]],
        more: 0,
        thinned: false,
        partial: false,
      });
    }
  }
});

test('names have the labels that differ, and invalid numbers are gaps', () => {
  const set = seriesOf(JSON.stringify(matrix([one, other])));
  expect(set?.series.map(({ name }) => name)).toEqual(['{pod="web-1"}', '{pod="web-2"}']);
  expect(set?.values[1]).toEqual([2, null, null]);
  expect(set?.series[1]).toMatchObject({ last: 2, least: 2, most: 2 });
});

test('series with different times share one axis', () => {
  const late = {
    metric: { pod: 'c' },
    values: [
      [1_060, '5'],
      [1_090, 6],
    ],
  };
  const set = seriesOf(JSON.stringify(matrix([one, late])));
  expect(set?.times).toEqual([1_000, 1_060, 1_090, 1_120]);
  expect(set?.values).toEqual([
    [1, 0, null, 1],
    [null, 5, 6, null],
  ]);
});

test('ten series are drawn, and the others are counted', () => {
  const many = Array.from({ length: 515 }, (_, n) => ({ ...one, metric: { pod: `web-${n}` } }));
  expect(seriesOf(JSON.stringify(matrix(many)))).toMatchObject({ more: 505, series: { length: 10 } });
});

test('a truncated result shows the complete series before the cut', () => {
  const whole = JSON.stringify({ status: 'success', data: matrix([one, other, one]) });
  const at = whole.lastIndexOf('"metric"') + 40;
  const set = seriesOf(`${whole.slice(0, at)}\n\n[cut: about 50 of 99 tokens left out]\n\n${whole.slice(at + 20)}`);
  expect(set).toMatchObject({ partial: true, series: { length: 2 } });
});

test('a result that is not a matrix is not drawn', () => {
  const deep = `{"resultType":"matrix","result":${'['.repeat(10_000)}"values"${']'.repeat(10_000)}}`;
  for (const text of [
    '',
    'values',
    '{"values"',
    'null "values"',
    deep,
    JSON.stringify({ resultType: 'vector', result: [{ metric: {}, value: [1, '2'], values: 1 }] }),
    JSON.stringify({ resultType: 'streams', result: [one] }),
    JSON.stringify(matrix([])),
    JSON.stringify(matrix([{ metric: {}, values: [[1, '2']] }])),
    JSON.stringify(matrix([{ metric: [], values: points(['1', '2']) }])),
    JSON.stringify(matrix([one, null, 'values'])),
    JSON.stringify(matrix([{ metric: {}, values: [['x', '1'], [null, '2'], 5, [-1, '2'], [1e300, '1']] }])),
  ]) {
    expect(seriesOf(text), text.slice(0, 80)).toBeUndefined();
  }
});

test('hostile labels and values stay text and numbers', () => {
  const hostile = `{"resultType":"matrix","result":[
    {"metric":{"__proto__":{"toString":1},"a":{"toString":1},"__name__":{},"b":"<img src=x>"},"values":[[1,"1e400"],[2,"1e-300"],[3,{}],[4,"0x10"],[5," "]]},
    {"metric":{"toString":"x"},"values":[[1,"1"],[2,"2"]]}]}`;
  const set = seriesOf(hostile);
  expect(set?.values[0]).toEqual([null, 0, null, 16, null]);
  expect(set?.series[0]?.name).toContain('b="<img src=x>"');
  expect(
    seriesOf(JSON.stringify(matrix([{ ...one, metric: { a: 'x'.repeat(100_000) } }])))?.series[0]?.name.length,
  ).toBe(200);
});

test('no JSON makes seriesOf throw', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      seriesOf(JSON.stringify({ resultType: 'matrix', result: [{ metric: value, values: value }] }));
      seriesOf(JSON.stringify(value));
    }),
  );
});
