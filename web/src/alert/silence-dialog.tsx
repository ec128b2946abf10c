/** Adds a silence. Matching alerts are listed as suppressed until it ends. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { keys } from '@/api/alerts';
import { api, body } from '@/api/client';
import { asProblem } from '@/api/problem';
import { useZone, zoneName } from '@/text/zone';
import { Button } from '@/ui/button';
import { ProblemPanel } from '@/ui/feedback';
import { Input, Select, Textarea } from '@/ui/input';
import { Labelled } from '@/ui/labelled';
import { Dialog, DialogClose, DialogContent } from '@/ui/overlay';
import { fromField, toField } from '@/ui/time-field';
import { readMatchers } from './matchers';

const durations = [
  { value: '30m', label: '30 minutes' },
  { value: '2h', label: '2 hours' },
  { value: '8h', label: '8 hours' },
  { value: '24h', label: '1 day' },
  { value: '168h', label: '1 week' },
];
const custom = 'custom';

export function SilenceDialog({
  matchers = [],
  onClose,
  onAdded,
}: {
  /** The initial content of the field. */
  matchers?: readonly string[];
  onClose: () => void;
  onAdded?: () => void;
}) {
  return (
    <Dialog open onOpenChange={(open) => open || onClose()}>
      <DialogContent
        title="Silence alerts"
        description="Matching alerts are not investigated. They are listed as suppressed."
      >
        <Form
          matchers={matchers}
          onAdded={() => {
            onClose();
            onAdded?.();
          }}
        />
      </DialogContent>
    </Dialog>
  );
}

function Form({ matchers, onAdded }: { matchers: readonly string[]; onAdded: () => void }) {
  const client = useQueryClient();
  const [text, setText] = useState(matchers.join('\n'));
  const [reason, setReason] = useState('');
  const [duration, setDuration] = useState('2h');
  const zone = useZone();
  /** The instant, not the text of the field: it stays the same if the zone changes. */
  const [end, setEnd] = useState<string>();
  const add = useMutation({
    mutationFn: () =>
      body(
        api.POST('/api/v1/silences', {
          body: {
            matchers: readMatchers(text),
            reason: reason.trim(),
            ...(duration === custom ? { ends_at: end } : { duration }),
          },
        }),
      ),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: keys.silences });
      onAdded();
    },
  });
  const problem = add.error ? asProblem(add.error) : undefined;
  const errorOf = (field: string) => (problem?.field?.startsWith(field) ? problem.message : undefined);
  const shown = errorOf('matchers') ?? errorOf('reason') ?? errorOf('ends_at');
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      <Labelled
        label="Matchers"
        hint={'One per line; all must match. Examples: namespace="staging", alertname=~"Disk.*", team!="shop"'}
        error={errorOf('matchers')}
      >
        {(props) => (
          <Textarea
            {...props}
            className="max-h-72 min-h-28 font-mono text-[13px]"
            rows={matchers.length}
            required
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
            data-testid="silence-matchers"
          />
        )}
      </Labelled>
      <Labelled label="Reason" error={errorOf('reason')}>
        {(props) => (
          <Input
            {...props}
            required
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            data-testid="silence-reason"
          />
        )}
      </Labelled>
      <Labelled label="Duration">
        {(props) => (
          <Select
            {...props}
            value={duration}
            onChange={(event) => {
              setDuration(event.target.value);
              // Rounded to the minute, like the field.
              if (end === undefined) setEnd(fromField(toField(new Date(Date.now() + 2 * 3_600_000), zone), zone));
            }}
            data-testid="silence-duration"
          >
            {durations.map((one) => (
              <option key={one.value} value={one.value}>
                {one.label}
              </option>
            ))}
            <option value={custom}>Until a date and time</option>
          </Select>
        )}
      </Labelled>
      {duration === custom && (
        <Labelled label={`Ends at (${zoneName(zone)})`} error={errorOf('ends_at')}>
          {(props) => (
            <Input
              {...props}
              type="datetime-local"
              required
              min={toField(new Date(), zone)}
              value={toField(end, zone)}
              onChange={(event) => setEnd(fromField(event.target.value, zone))}
              data-testid="silence-end"
            />
          )}
        </Labelled>
      )}
      {add.error && shown === undefined && <ProblemPanel error={add.error} />}
      <div className="flex justify-end gap-2">
        <DialogClose asChild>
          <Button>Back</Button>
        </DialogClose>
        <Button type="submit" variant="primary" disabled={add.isPending} data-testid="silence-add">
          {add.isPending ? 'Adding…' : 'Add silence'}
        </Button>
      </div>
    </form>
  );
}
