/** Asks for the reason and the duration of a pause. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type PauseKind, pause, pauses } from '@/api/operations';
import { Button } from '@/ui/button';
import { ProblemPanel } from '@/ui/feedback';
import { Input, Select } from '@/ui/input';
import { Labelled } from '@/ui/labelled';
import { Dialog, DialogClose, DialogContent } from '@/ui/overlay';
import { pauseEffects } from './pauses';

const durations = [
  { value: '15m', label: '15 minutes' },
  { value: '30m', label: '30 minutes' },
  { value: '1h', label: '1 hour' },
  { value: '4h', label: '4 hours' },
  { value: '', label: 'Until resumed' },
];

export function PauseDialog({ kind, onClose }: { kind: PauseKind; onClose: () => void }) {
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  const [duration, setDuration] = useState('30m');
  const pausing = useMutation({
    mutationFn: () => pause(kind, reason, duration),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: pauses().queryKey });
      onClose();
    },
  });
  return (
    <Dialog open onOpenChange={(open) => open || onClose()}>
      <DialogContent title={`Pause ${kind}`} description={`On all servers. ${pauseEffects[kind]}`}>
        <form
          className="space-y-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (!pausing.isPending) pausing.mutate();
          }}
        >
          <Labelled label="Reason">
            {(props) => (
              <Input
                {...props}
                value={reason}
                maxLength={500}
                onChange={(event) => setReason(event.target.value)}
                placeholder="Database upgrade"
                data-testid="pause-reason"
              />
            )}
          </Labelled>
          <Labelled label="Resumes">
            {(props) => (
              <Select
                {...props}
                value={duration}
                onChange={(event) => setDuration(event.target.value)}
                data-testid="pause-duration"
              >
                {durations.map((one) => (
                  <option key={one.value} value={one.value}>
                    {one.value === '' ? one.label : `After ${one.label}`}
                  </option>
                ))}
              </Select>
            )}
          </Labelled>
          {pausing.error && <ProblemPanel error={pausing.error} />}
          <div className="flex justify-end gap-2">
            <DialogClose asChild>
              <Button type="button">Back</Button>
            </DialogClose>
            <Button type="submit" variant="primary" disabled={pausing.isPending} data-testid="pause-submit">
              Pause {kind}
            </Button>
          </div>
        </form>
      </DialogContent>
    </Dialog>
  );
}
