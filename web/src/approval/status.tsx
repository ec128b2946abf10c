import { CircleCheck, CircleX, Clock, Hourglass, type LucideIcon, Undo2 } from 'lucide-react';
import { Badge, type Tone } from '@/ui/badge';
import { approvalWord } from './words';

const looks: Record<string, { tone: Tone; icon: LucideIcon }> = {
  waiting: { tone: 'warn', icon: Hourglass },
  approved: { tone: 'good', icon: CircleCheck },
  rejected: { tone: 'bad', icon: CircleX },
  expired: { tone: 'idle', icon: Clock },
  withdrawn: { tone: 'idle', icon: Undo2 },
};

/** The state of an approval. `changed` is whether a person changed the arguments. */
export function ApprovalBadge({ status, changed = false }: { status: string; changed?: boolean }) {
  return (
    <Badge {...(looks[status] ?? { tone: 'idle', icon: Clock })} className="shrink-0">
      {approvalWord(status)}
      {status === 'approved' && changed && ' with changes'}
    </Badge>
  );
}
