/** A change as fields before and after. On a narrow screen the two sides are stacked. */
import { ArrowRight } from 'lucide-react';
import { cn } from '@/ui/cn';
import type { Change, Field } from './change';

export function Diff({ change, comparing }: { change: Change; comparing: boolean }) {
  const [left, right] = change.sides;
  const additions = change.adds === true;
  return (
    <table className="block w-full text-left sm:table sm:table-fixed" data-testid="diff">
      <caption className="sr-only">Proposed change</caption>
      <thead className="sr-only sm:not-sr-only sm:table-header-group">
        <tr className="text-xs text-ink-soft">
          <th scope="col" className="w-24 py-1 font-medium">
            Field
          </th>
          {!additions && (
            <th scope="col" className="py-1 font-medium">
              {left}
            </th>
          )}
          <th scope="col" className="py-1 font-medium">
            {right}
          </th>
        </tr>
      </thead>
      <tbody className="block divide-y divide-line sm:table-row-group">
        {change.fields.map((field) => (
          <Row key={field.name} field={field} additions={additions} comparing={comparing} sides={change.sides} />
        ))}
      </tbody>
    </table>
  );
}

function Row({
  field,
  additions,
  comparing,
  sides,
}: {
  field: Field;
  additions: boolean;
  comparing: boolean;
  sides: readonly [string, string];
}) {
  const same = field.before === field.after;
  const cell =
    'block py-0.5 pr-3 align-top break-words whitespace-pre-wrap [overflow-wrap:anywhere] sm:table-cell sm:py-2';
  return (
    <tr className="block py-1.5 sm:table-row sm:py-0" data-testid="diff-row" data-field={field.name}>
      <th scope="row" className="block text-xs font-medium text-ink-soft sm:table-cell sm:py-2 sm:align-top">
        {field.name}
      </th>
      {!additions && (
        <td className={cell}>
          <Side label={sides[0]}>
            {field.before === '' ? (
              <Nothing />
            ) : comparing || same ? (
              <span className={cn(same && 'text-ink-soft')}>{field.before}</span>
            ) : (
              <del className="rounded-sm bg-bad-soft px-0.5 text-bad decoration-bad/60">{field.before}</del>
            )}
          </Side>
        </td>
      )}
      <td className={cell}>
        <Side label={sides[1]} arrow={!additions && !comparing}>
          {field.after === '' ? (
            <Nothing />
          ) : comparing ? (
            <span className={cn(same ? 'text-ink-soft' : 'rounded-sm bg-warn-soft px-0.5')}>{field.after}</span>
          ) : (
            <ins className="rounded-sm bg-good-soft px-0.5 text-good no-underline">{field.after}</ins>
          )}
        </Side>
      </td>
    </tr>
  );
}

function Side({ label, arrow = false, children }: { label: string; arrow?: boolean; children: React.ReactNode }) {
  return (
    <>
      <span className="sr-only">{label}: </span>
      {arrow && <ArrowRight className="mr-1 inline size-3.5 text-ink-faint sm:hidden" aria-hidden />}
      {children}
    </>
  );
}

function Nothing() {
  return (
    <span className="text-ink-faint">
      <span aria-hidden>–</span>
      <span className="sr-only">none</span>
    </span>
  );
}
