/** Shares a session with a link that anyone can open until it expires. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Share2, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { api, body } from '@/api/client';
import { type Share, shares } from '@/api/operations';
import { usePageCommands } from '@/app/commands';
import { useScope } from '@/app/scope';
import { counted } from '@/text/format';
import { Answer } from '@/ui/answer';
import { Button } from '@/ui/button';
import { CopyButton } from '@/ui/copy';
import { ProblemPanel } from '@/ui/feedback';
import { Select } from '@/ui/input';
import { Labelled } from '@/ui/labelled';
import { useNow } from '@/ui/now';
import { Dialog, DialogContent } from '@/ui/overlay';
import { DateTime } from '@/ui/time';

const lives = [
  { value: '24h', label: '1 day' },
  { value: '168h', label: '7 days' },
  { value: '720h', label: '30 days' },
  { value: '2160h', label: '90 days' },
];

export function ShareButton({ sessionId, className, label }: { sessionId: string; className: string; label: string }) {
  const [open, setOpen] = useState(false);
  const may = useScope('write');
  const show = () => setOpen(true);
  usePageCommands(
    may
      ? [
          {
            id: 'share',
            label: 'Share this session',
            keywords: ['link', 'read-only'],
            icon: <Share2 aria-hidden />,
            run: show,
          },
        ]
      : [],
  );
  return (
    <>
      <Button
        size="sm"
        className={className}
        disabled={!may}
        title={may ? 'Share by a read-only link' : 'Your API key is read-only.'}
        onClick={show}
        data-palette="none"
        data-testid="share-session"
      >
        <Share2 aria-hidden />
        <span className={label}>Share…</span>
      </Button>
      {open && <ShareDialog sessionId={sessionId} onClose={() => setOpen(false)} />}
    </>
  );
}

function ShareDialog({ sessionId, onClose }: { sessionId: string; onClose: () => void }) {
  const client = useQueryClient();
  const [life, setLife] = useState('168h');
  const creating = useMutation({
    mutationFn: () =>
      body(
        api.POST('/api/v1/sessions/{id}/shares', { params: { path: { id: sessionId } }, body: { expires_in: life } }),
      ),
    onSuccess: () => void client.invalidateQueries({ queryKey: shares(sessionId).queryKey }),
  });
  return (
    <Dialog open onOpenChange={(open) => open || onClose()}>
      <DialogContent
        title="Share session"
        description="Anybody who has the link can read the verdict, the analysis and the timeline, without a login."
      >
        <div className="space-y-4">
          <form
            className="flex flex-wrap items-end gap-3"
            onSubmit={(event) => {
              event.preventDefault();
              if (!creating.isPending) creating.mutate();
            }}
          >
            <Labelled label="Link works for">
              {(props) => (
                <Select
                  {...props}
                  value={life}
                  onChange={(event) => setLife(event.target.value)}
                  data-testid="share-life"
                >
                  {lives.map((one) => (
                    <option key={one.value} value={one.value}>
                      {one.label}
                    </option>
                  ))}
                </Select>
              )}
            </Labelled>
            <Button type="submit" variant="primary" disabled={creating.isPending} data-testid="share-create">
              Create link
            </Button>
          </form>
          {creating.error && <ProblemPanel error={creating.error} />}
          {creating.data && (
            <NewLink link={creating.data.url ?? `${globalThis.location.origin}/shared#${creating.data.secret}`} />
          )}
          <ShareList sessionId={sessionId} />
        </div>
      </DialogContent>
    </Dialog>
  );
}

function NewLink({ link }: { link: string }) {
  return (
    <div className="space-y-2">
      <p className="flex items-start gap-2 rounded-md bg-warn-soft px-3 py-2">
        <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden />
        <span>Copy the link now. It cannot be shown again.</span>
      </p>
      <p className="flex items-center gap-2 rounded-md border border-line bg-sunken px-3 py-2">
        <code className="min-w-0 flex-1 font-mono text-xs break-all select-all" data-testid="share-link">
          {link}
        </code>
        <CopyButton text={link} label="Copy link to share" />
      </p>
    </div>
  );
}

function ShareList({ sessionId }: { sessionId: string }) {
  const client = useQueryClient();
  const found = useQuery(shares(sessionId));
  const now = useNow(60_000);
  const revoking = useMutation({
    mutationFn: (shareId: string) =>
      body(
        api.DELETE('/api/v1/sessions/{id}/shares/{share_id}', {
          params: { path: { id: sessionId, share_id: shareId } },
        }),
      ),
    onSuccess: () => void client.invalidateQueries({ queryKey: shares(sessionId).queryKey }),
  });
  return (
    <section aria-labelledby="share-list">
      <h3 id="share-list" className="mb-1 font-medium">
        Links
      </h3>
      <Answer query={found} what="the links">
        {(data) =>
          data.shares.length === 0 ? (
            <p className="text-ink-soft">This session is not shared.</p>
          ) : (
            <ul className="divide-y divide-line" data-testid="share-list">
              {data.shares.map((share) => (
                <li key={share.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
                  <p className="min-w-0 flex-1 basis-48 text-[13px] break-words">
                    {stateOf(share, now)} <DateTime at={share.revoked_at ?? share.expires_at} />
                    <span className="block text-ink-soft">
                      By {share.author}, opened {counted(share.uses, 'time')}
                    </span>
                  </p>
                  {isUsable(share, now) && (
                    <Button
                      size="sm"
                      disabled={revoking.isPending}
                      onClick={() => revoking.mutate(share.id)}
                      data-testid="share-revoke"
                    >
                      Revoke
                    </Button>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
      {revoking.error && <ProblemPanel className="mt-2" error={revoking.error} />}
    </section>
  );
}

function isUsable(share: Share, now: Date): boolean {
  return share.revoked_at === null && new Date(share.expires_at) > now;
}

function stateOf(share: Share, now: Date): string {
  if (share.revoked_at !== null) return 'Revoked';
  return isUsable(share, now) ? 'Works until' : 'Expired';
}
