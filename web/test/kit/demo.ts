import { rmSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from './directory';
import { binary, Program } from './process';

/** `tarsy demo`: the real server with its own scripted model, simulated cluster and example alerts. */
export class Demo {
  private constructor(
    private readonly program: Program,
    private readonly directory: string,
    readonly url: string,
  ) {}

  /** `speed` is the speed of its model; 1 is a human pace. */
  static async start(speed: number): Promise<Demo> {
    const directory = makeDirectory('tarsy-demo-');
    const data = path.join(directory, 'data');
    const program = new Program(binary, [
      'demo',
      '--speed',
      String(speed),
      '--listen',
      '127.0.0.1:0',
      '--data-dir',
      data,
    ]);
    const [, url] = await program.line(/is running at (http:\/\/\S+)/);
    return new Demo(program, directory, url ?? '');
  }

  async stop(): Promise<void> {
    await this.program.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
