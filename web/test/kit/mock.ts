import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { limits } from './limits';
import { Program } from './process';

/** The model and the MCP servers outside of the system: `tarsy mock` with a script. */
export class Mock {
  private constructor(
    private readonly program: Program,
    readonly url: string,
    private readonly file: string,
  ) {}

  static async start(binary: string, directory: string, script: string, more: string[] = []): Promise<Mock> {
    const file = path.join(directory, 'script.yaml');
    writeFileSync(file, script);
    const program = new Program(binary, [
      'mock',
      '--script',
      file,
      '--listen',
      '127.0.0.1:0',
      '-o',
      'json',
      '--strict=false',
      ...more,
    ]);
    const [line] = await program.line(/^\{.*"url".*\}$/);
    return new Mock(program, (JSON.parse(line) as { url: string }).url, file);
  }

  /** Replaces the script, for example by one with ids that the server has assigned since. */
  async play(script: string): Promise<void> {
    const before = this.program.lines.length;
    writeFileSync(this.file, script);
    const [line] = await this.program.line(/Script changed.*/, before);
    if (/invalid/.test(line)) throw new Error(this.program.lines.slice(before).join('\n'));
  }

  /** Waits until a call is held at a gate. */
  async reached(gate: string): Promise<void> {
    const answer = await fetch(
      `${this.url}/_mock/gates/${gate}?wait=${Math.min(300, Math.round(limits().step / 1000))}s`,
    );
    const { reached } = (await answer.json()) as { reached?: boolean };
    if (!reached) throw new Error(`no call reached the gate ${gate}`);
  }

  async open(gate: string): Promise<void> {
    const answer = await fetch(`${this.url}/_mock/gates/${gate}/open`, { method: 'POST' });
    if (!answer.ok) throw new Error(`gate ${gate}: ${answer.status} ${await answer.text()}`);
  }

  /** Fails if the model received a request that the script does not expect. */
  async verify(): Promise<void> {
    const answer = await fetch(`${this.url}/_mock/unexpected`);
    const { lanes } = (await answer.json()) as { lanes: { unexpected?: unknown[] }[] };
    const unexpected = lanes.flatMap((lane) => lane.unexpected ?? []);
    if (unexpected.length > 0)
      throw new Error(`the script does not know what was asked: ${JSON.stringify(unexpected)}`);
  }

  stop(): Promise<number | null> {
    return this.program.stop();
  }
}
