/** The payload editor: format, size, mistakes, and files. */
import { CircleCheck, FileUp } from 'lucide-react';
import { useRef } from 'react';
import { bytes } from '@/text/format';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { Textarea } from '@/ui/input';
import { Segmented } from '@/ui/segmented';
import { FieldProblem, fieldIds, fieldProps, Label } from './field';
import { accepted } from './file';
import { mistakeText } from './mistake';
import { type Checked, formatLabels, formats, maxBytes, type PayloadFormat } from './payload';

const examples: Record<PayloadFormat, string> = {
  text: 'Pod web-1 in namespace shop was OOMKilled three times in ten minutes.',
  json: '{\n  "alert": "PodOOMKilled",\n  "namespace": "shop",\n  "pod": "web-1"\n}',
  yaml: 'alert: PodOOMKilled\nnamespace: shop\npod: web-1',
};

export function PayloadField({
  text,
  format,
  checked,
  size,
  problem,
  onText,
  onFormat,
  onFiles,
}: {
  text: string;
  format: PayloadFormat;
  /** The result of the check; undefined while it runs. */
  checked: Checked | undefined;
  /** The size of the whole request in bytes; undefined while it is computed. */
  size: number | undefined;
  problem: string | undefined;
  onText: (text: string) => void;
  onFormat: (format: PayloadFormat) => void;
  onFiles: (files: File[]) => void;
}) {
  const editor = useRef<HTMLTextAreaElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const mistake = checked?.ok === false ? checked.mistake : undefined;
  const message = problem ?? (mistake && mistakeText(mistake));
  const offset = problem === undefined ? mistake?.offset : undefined;

  const goTo = (place: number) => {
    editor.current?.focus();
    editor.current?.setSelectionRange(place, Math.min(place + 1, text.length));
  };

  return (
    <div className="flex min-h-0 flex-1 flex-col gap-1.5">
      <div className="flex flex-wrap items-center gap-2">
        <Label name="data" className="mr-auto">
          Payload
        </Label>
        <Segmented
          label="Payload format"
          value={format}
          options={formats.map((value) => ({ value, label: formatLabels[value] }))}
          onChange={onFormat}
          data-testid="submit-format"
          data-palette="none"
        />
        <Button onClick={() => chooser.current?.click()}>
          <FileUp aria-hidden /> Choose file
        </Button>
        <input
          ref={chooser}
          type="file"
          accept={accepted}
          hidden
          data-testid="submit-file"
          onChange={(event) => {
            const files = [...(event.target.files ?? [])];
            // Lets people choose the same file again after changing it.
            event.target.value = '';
            if (files.length > 0) onFiles(files);
          }}
        />
      </div>
      <Textarea
        ref={editor}
        {...fieldProps('data', message, true)}
        value={text}
        onChange={(event) => onText(event.target.value)}
        placeholder={examples[format]}
        spellCheck={false}
        autoCapitalize="off"
        autoCorrect="off"
        wrap={format === 'text' ? 'soft' : 'off'}
        className="min-h-64 flex-1 resize-y lg:min-h-40 lg:resize-none font-mono text-[13px] leading-5"
        data-testid="submit-payload"
      />
      <FieldProblem name="data" message={message}>
        {offset !== undefined && (
          <Button variant="link" size="sm" className="h-6 px-1" onClick={() => goTo(offset)}>
            Go to error
          </Button>
        )}
      </FieldProblem>
      <div id={fieldIds('data').hint} className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-soft">
        <span className="inline-flex items-center gap-1" aria-live="polite">
          {checked?.ok && format !== 'text' && (
            <>
              <CircleCheck className="size-3.5 text-good" aria-hidden />
              {format === 'yaml' ? 'Valid YAML, sent as JSON' : 'Valid JSON'}
            </>
          )}
          {checked === undefined && text.trim() !== '' && format !== 'text' && 'Checking…'}
          {text.trim() === '' && 'Type or paste the alert, or drop a file anywhere on this page.'}
        </span>
        <Size of={size} />
      </div>
    </div>
  );
}

/** The size of the request, with a bar. */
function Size({ of: size }: { of: number | undefined }) {
  if (size === undefined) return null;
  const over = size > maxBytes;
  return (
    <span
      className={cn('ml-auto inline-flex items-center gap-2 tabular-nums', over && 'font-medium text-bad')}
      data-testid="submit-size"
    >
      <span className="h-1.5 w-16 overflow-hidden rounded-full bg-idle-soft" aria-hidden>
        <span
          className={cn('block h-full rounded-full', over ? 'bg-bad' : 'bg-line-strong')}
          style={{ width: `${Math.min(100, (size / maxBytes) * 100)}%` }}
        />
      </span>
      {bytes(size)} of {bytes(maxBytes)}
    </span>
  );
}
