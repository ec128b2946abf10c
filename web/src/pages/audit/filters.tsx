import { useId } from 'react';
import type { AuditFilter } from '@/api/audit';
import { useZone } from '@/text/zone';
import { Input } from '@/ui/input';
import { SearchBox } from '@/ui/search-box';
import { fromField, toField } from '@/ui/time-field';

/** Who, what and when. Names must match exactly, as in the API. */
export function Filters({ filter, change }: { filter: AuditFilter; change: (part: AuditFilter) => void }) {
  return (
    <span className="flex flex-wrap items-center gap-2 max-md:w-full">
      <SearchBox
        label="Who (exact name)"
        className="w-52 max-md:w-full"
        value={filter.actor ?? ''}
        onChange={(actor) => change({ actor: actor.trim() || undefined })}
        data-testid="audit-actor"
      />
      <SearchBox
        label="Action, such as session.cancel"
        className="w-72 max-md:w-full"
        value={filter.action ?? ''}
        onChange={(action) => change({ action: action.trim() || undefined })}
        data-testid="audit-action"
      />
      <SearchBox
        label="Id of what changed"
        className="w-48 max-md:w-full"
        value={filter.target_id ?? ''}
        onChange={(id) => change({ target_id: id.trim() || undefined })}
        data-testid="audit-target"
      />
      <When label="From" at={filter.since} onChange={(since) => change({ since })} />
      <When label="Until" at={filter.until} onChange={(until) => change({ until })} />
    </span>
  );
}

function When({
  label,
  at,
  onChange,
}: {
  label: string;
  at: string | undefined;
  onChange: (at: string | undefined) => void;
}) {
  const zone = useZone();
  const field = useId();
  return (
    <label
      htmlFor={field}
      className="flex items-center gap-2 text-[13px] text-ink-soft max-md:w-full max-md:justify-between"
    >
      {label}
      <Input
        id={field}
        type="datetime-local"
        className="w-auto"
        value={toField(at, zone)}
        onChange={(event) => onChange(fromField(event.target.value, zone))}
      />
    </label>
  );
}
