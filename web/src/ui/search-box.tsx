import { Search } from 'lucide-react';
import { type RefObject, useEffect, useEffectEvent, useState } from 'react';
import { cn } from './cn';
import { useDebounced } from './debounced';
import { Input } from './input';
import { Kbd } from './kbd';

/** A search field. It updates while typing; `onChange` is called when typing pauses. */
export function SearchBox({
  label,
  placeholder = label,
  value,
  onChange,
  field,
  shortcut,
  className,
  ...rest
}: {
  label: string;
  placeholder?: string;
  value: string;
  onChange: (text: string) => void;
  field?: RefObject<HTMLInputElement | null>;
  /** The shortcut that focuses the field. */
  shortcut?: string;
  className?: string;
  'data-testid'?: string;
}) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    // Changed from outside: by the back button, a link, or "Clear filters".
    setKnown(value);
    setTyped(value);
  }
  const settled = useDebounced(typed, 300);
  const report = useEffectEvent(onChange);
  useEffect(() => {
    if (settled !== typed || settled === value) return;
    setKnown(settled);
    report(settled);
  }, [settled, typed, value]);
  return (
    <div className={cn('relative w-full max-w-md', className)}>
      <Search className="pointer-events-none absolute top-2.5 left-2.5 size-4 text-ink-soft" aria-hidden />
      <Input
        ref={field}
        type="search"
        className={cn('pl-8', shortcut && 'peer pr-8 [&::-webkit-search-cancel-button]:hidden')}
        placeholder={placeholder}
        aria-label={label}
        aria-keyshortcuts={shortcut}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        {...rest}
      />
      {shortcut && (
        <Kbd keys={shortcut} className="pointer-events-none absolute top-2 right-2 peer-focus:hidden max-md:hidden" />
      )}
    </div>
  );
}
