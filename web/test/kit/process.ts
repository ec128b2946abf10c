/** Programs run by tests: started, watched line by line, and ended with the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { limits } from './limits';

/** The program under test. */
export const binary = process.env.TARSY_BIN ?? path.resolve(import.meta.dirname, '../../../bin/tarsy');

export class Program {
  readonly lines: string[] = [];
  private readonly child: ChildProcess;
  private readonly exited: Promise<number | null>;
  private listeners: (() => void)[] = [];
  private over = false;

  constructor(command: string, args: string[], env: Record<string, string> = {}) {
    this.child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    this.exited = new Promise((resolve) => {
      this.child.once('close', (code) => {
        this.over = true;
        this.notify();
        resolve(code);
      });
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        this.lines.push(line);
        this.notify();
      });
    }
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }

  /** Waits for a line after the first `after` lines; if it does not come, the error contains the output so far. */
  line(pattern: RegExp, after = 0): Promise<RegExpMatchArray> {
    return new Promise((resolve, reject) => {
      const output = () => `\n${this.lines.join('\n')}`;
      const timer = setTimeout(
        () => finish(() => reject(new Error(`no line ${pattern} in time:${output()}`))),
        limits().step,
      );
      const finish = (settle: () => void) => {
        clearTimeout(timer);
        this.listeners = this.listeners.filter((listener) => listener !== look);
        settle();
      };
      const look = () => {
        for (const line of this.lines.slice(after)) {
          const match = line.match(pattern);
          if (match) return finish(() => resolve(match));
        }
        if (this.over) finish(() => reject(new Error(`it ended before a line ${pattern}:${output()}`)));
      };
      this.listeners.push(look);
      look();
    });
  }

  /** Kills it immediately, like a crash. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  /** Terminates it gracefully and returns its exit code. */
  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM');
    return this.exited;
  }
}
