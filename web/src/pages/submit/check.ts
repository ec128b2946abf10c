/** Checks a payload of any format. YAML is checked in a worker, loaded on first use. */
import { useEffect, useState } from 'react';
import { type Checked, checkJSON, checkText, type PayloadFormat } from './payload';

const longestCheck = 30_000;
const pause = 300;

export function checkPayload(text: string, format: PayloadFormat, signal?: AbortSignal): Promise<Checked> {
  if (format === 'text') return Promise.resolve(checkText(text));
  if (format === 'json') return Promise.resolve(checkJSON(text));
  return checkInWorker(text, signal);
}

function checkInWorker(text: string, signal?: AbortSignal): Promise<Checked> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./yaml-worker.ts', import.meta.url), { type: 'module' });
    const timer = setTimeout(
      () => refuse('The YAML takes too long to parse. Simplify it, or send JSON.'),
      longestCheck,
    );
    const done = () => {
      clearTimeout(timer);
      worker.terminate();
      signal?.removeEventListener('abort', abort);
    };
    const refuse = (message: string) => {
      done();
      resolve({ ok: false, mistake: { message } });
    };
    const abort = () => {
      done();
      reject(signal?.reason);
    };
    worker.onmessage = (event: MessageEvent<Checked>) => {
      done();
      resolve(event.data);
    };
    worker.onerror = () => refuse('Could not load the YAML parser. Reload the page, or send JSON.');
    signal?.addEventListener('abort', abort);
    worker.postMessage(text);
  });
}

/** Returns the result of checking the typed payload; undefined while the check runs or if the payload is empty. */
export function usePayloadCheck(text: string, format: PayloadFormat): Checked | undefined {
  const [known, setKnown] = useState<{ text: string; format: PayloadFormat; checked: Checked }>();
  useEffect(() => {
    if (text.trim() === '') return;
    const control = new AbortController();
    const timer = setTimeout(() => {
      checkPayload(text, format, control.signal)
        .then((checked) => setKnown({ text, format, checked }))
        .catch(() => {
          // A later text replaced it.
        });
    }, pause);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [text, format]);
  return known !== undefined && known.text === text && known.format === format ? known.checked : undefined;
}
