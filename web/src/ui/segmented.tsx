import { useId } from 'react';
import { cn } from './cn';

/** A choice between a few visible options: native radio buttons with a custom look. */
export function Segmented<T extends string>({
  label,
  value,
  options,
  onChange,
  className,
  ...rest
}: {
  label: string;
  value: T;
  options: readonly { value: T; label: string }[];
  onChange: (value: T) => void;
  className?: string;
  'data-testid'?: string;
  /** For choices that are also commands of the page. */
  'data-palette'?: 'none';
}) {
  const name = useId();
  return (
    <fieldset
      className={cn(
        'inline-flex h-9 shrink-0 items-stretch rounded-md border border-line-strong bg-surface p-0.5',
        className,
      )}
      {...rest}
    >
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className="relative flex cursor-pointer items-center rounded-[5px] px-2.5 text-sm text-ink-soft hover:text-ink has-checked:bg-idle-soft has-checked:font-medium has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-offset-1 has-focus-visible:outline-focus"
        >
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
            className="absolute inset-0 cursor-pointer opacity-0"
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}
