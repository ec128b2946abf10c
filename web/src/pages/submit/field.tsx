/** The frame of a form field: label, hint and error. */
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { cn } from '@/ui/cn';

/** The ids of a control, its error and its hint, by the server's name for the field. */
export function fieldIds(name: string) {
  return { control: `submit-${name}`, problem: `submit-${name}-problem`, hint: `submit-${name}-hint` };
}

/** The attributes that link a control to its error and hint. */
export function fieldProps(name: string, problem: string | undefined, hint = false) {
  const ids = fieldIds(name);
  const described = [problem === undefined ? '' : ids.problem, hint ? ids.hint : ''].filter(Boolean).join(' ');
  return {
    id: ids.control,
    'aria-invalid': problem !== undefined || undefined,
    'aria-describedby': described || undefined,
  };
}

export function FieldProblem({
  name,
  message,
  children,
}: {
  name: string;
  message: string | undefined;
  children?: ReactNode;
}) {
  if (message === undefined) return null;
  return (
    <p id={fieldIds(name).problem} className="flex items-start gap-1.5 text-bad" data-testid={`submit-problem-${name}`}>
      <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
      <span className="min-w-0 break-words">
        {message} {children}
      </span>
    </p>
  );
}

export function Label({ name, className, children }: { name: string; className?: string; children: ReactNode }) {
  return (
    <label htmlFor={fieldIds(name).control} className={cn('block text-sm font-medium', className)}>
      {children}
    </label>
  );
}
