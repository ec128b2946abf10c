/** Accepts files dropped anywhere on the page. Otherwise the browser would leave the page to open the file. */
import { FileDown } from 'lucide-react';
import { useEffect, useEffectEvent, useState } from 'react';

function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') ?? false;
}

/** Reports whether files are being dragged over the page. */
export function useFileDrop(onFiles: (files: File[]) => void): boolean {
  const [over, setOver] = useState(false);
  const dropped = useEffectEvent(onFiles);
  useEffect(() => {
    // Every element under the pointer fires enter and leave events: the pointer has left the page when their numbers
    // are equal.
    let depth = 0;
    const enter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth++;
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const stay = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = 'copy';
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      dropped([...(event.dataTransfer?.files ?? [])]);
    };
    const listeners = { dragenter: enter, dragleave: leave, dragover: stay, drop } as const;
    for (const [name, listener] of Object.entries(listeners)) window.addEventListener(name, listener as EventListener);
    return () => {
      for (const [name, listener] of Object.entries(listeners))
        window.removeEventListener(name, listener as EventListener);
    };
  }, []);
  return over;
}

export function DropCover() {
  return (
    <div
      className="pointer-events-none fixed inset-0 z-40 flex items-center justify-center bg-canvas/85 p-4"
      data-testid="submit-drop"
    >
      <div className="flex flex-col items-center gap-2 rounded-lg border-2 border-dashed border-accent bg-surface px-10 py-8 text-center">
        <FileDown className="size-8 text-accent" aria-hidden />
        <p className="text-base font-semibold">Drop the file to use it as the payload</p>
        <p className="text-ink-soft">JSON, YAML or text, up to 1 MiB</p>
      </div>
    </div>
  );
}
