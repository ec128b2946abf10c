import { ArrowDown } from 'lucide-react';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';

/**
 * Scrolls back to the end and shows how many rows were added. It is inside the scrolling element, so that the wheel
 * works over it.
 */
export function JumpButton({
  shown,
  missed,
  jump,
  what,
  small = false,
}: {
  shown: boolean;
  missed: number;
  jump(): void;
  what?: string;
  small?: boolean;
}) {
  if (!shown) return null;
  const words = 'Jump to latest';
  return (
    <div
      className={cn(
        'pointer-events-none sticky z-10 flex h-0 items-end justify-center',
        small ? 'bottom-2' : 'bottom-4',
      )}
    >
      <Button
        variant="primary"
        size={small ? 'sm' : 'md'}
        className="pointer-events-auto rounded-full shadow-lg"
        data-testid={small ? 'pane-jump-to-latest' : 'jump-to-latest'}
        aria-label={label(what ? `Jump to latest of ${what}` : words, missed)}
        onClick={jump}
      >
        <ArrowDown aria-hidden />
        {words}
        {missed > 0 && <span className="tabular-nums">· {missed} new</span>}
      </Button>
    </div>
  );
}

function label(words: string, missed: number): string {
  return missed > 0 ? `${words}, ${missed} new` : words;
}
