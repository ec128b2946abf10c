import { useQuery } from '@tanstack/react-query';
import * as queries from '@/api/queries';
import { ProblemPanel, Skeleton } from '@/ui/feedback';
import { Select } from '@/ui/input';
import { FieldProblem, fieldIds, fieldProps, Label } from './field';

/** Returns the server's alert type for alerts without one; empty if none is configured or while it loads. */
export function useDefaultType(): string {
  const { data } = useQuery({ ...queries.defaultTools(''), enabled: true });
  return data?.alert_type ?? '';
}

export function TypeField({
  value,
  defaultType,
  onChange,
  problem,
}: {
  value: string;
  defaultType: string;
  onChange: (alertType: string) => void;
  problem: string | undefined;
}) {
  const types = useQuery(queries.alertTypes());
  const known = types.data?.alert_types ?? [];
  const chosen = known.find((type) => type.name === value);

  return (
    <div className="space-y-1.5">
      <Label name="alert_type">Alert type</Label>
      {types.isPending ? (
        <Skeleton className="h-9" />
      ) : types.isError && known.length === 0 ? (
        <ProblemPanel error={types.error} retry={() => void types.refetch()} />
      ) : (
        <Select
          {...fieldProps('alert_type', problem, chosen !== undefined)}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          data-testid="submit-type"
        >
          {value === '' && <option value="">Choose a type</option>}
          {value !== '' && chosen === undefined && <option value={value}>{value} (not configured)</option>}
          {known.map((type) => (
            <option key={type.name} value={type.name}>
              {type.name}
              {type.name === defaultType ? ' (default)' : ''}
            </option>
          ))}
        </Select>
      )}
      <FieldProblem name="alert_type" message={problem} />
      {/* Reserves the line, so that fields below do not move under the pointer when the types load. */}
      <div className="min-h-5">
        {chosen ? (
          <p id={fieldIds('alert_type').hint} className="text-ink-soft">
            {chosen.description && <span className="break-words">{chosen.description} </span>}
            <span className="whitespace-nowrap">
              Chain <code className="font-mono text-xs">{chosen.chain_id}</code>
            </span>
          </p>
        ) : (
          types.isPending && <Skeleton className="h-5 w-2/3" />
        )}
      </div>
    </div>
  );
}
