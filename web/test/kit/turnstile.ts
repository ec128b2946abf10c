/**
 * A proxy between the server and its MCP servers that holds the results of chosen tools until the test releases them: a
 * script can make a tool slow, but only this makes it wait for the test.
 */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { limits } from './limits';

export class Turnstile {
  private readonly waiting = new Map<string, (() => void)[]>();
  private readonly watchers = new Set<() => void>();
  private readonly held: Set<string>;
  private readonly server: Server;

  private constructor(
    private readonly target: string,
    held: readonly string[],
  ) {
    this.held = new Set(held);
    this.server = createServer((incoming, outgoing) => void this.pass(incoming, outgoing));
  }

  static async start(target: string, held: readonly string[]): Promise<Turnstile> {
    const turnstile = new Turnstile(target, held);
    await new Promise<void>((listening) => turnstile.server.listen(0, '127.0.0.1', listening));
    return turnstile;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Waits until a result of the tool is held. */
  reached(tool: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`nothing reached the turnstile for ${tool}`)), limits().step);
      const look = () => {
        if (!this.waiting.has(tool)) return;
        clearTimeout(timer);
        this.watchers.delete(look);
        resolve();
      };
      this.watchers.add(look);
      look();
    });
  }

  /** Releases the results of a tool, held and future ones. */
  open(tool: string): void {
    this.held.delete(tool);
    for (const pass of this.waiting.get(tool) ?? []) pass();
    this.waiting.delete(tool);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }

  private async pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    const tool = calledTool(body.toString());
    const onward = request(
      this.target + incoming.url,
      { method: incoming.method, headers: incoming.headers },
      async (answer) => {
        // The call was accepted; its result is held.
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        outgoing.flushHeaders();
        await this.wait(tool);
        answer.pipe(outgoing);
      },
    );
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    onward.end(body);
  }

  private async wait(tool: string | undefined): Promise<void> {
    if (tool === undefined || !this.held.has(tool)) return;
    await new Promise<void>((pass) => {
      this.waiting.set(tool, [...(this.waiting.get(tool) ?? []), pass]);
      for (const look of [...this.watchers]) look();
    });
  }
}

function calledTool(body: string): string | undefined {
  if (body === '') return undefined;
  const { method, params } = JSON.parse(body) as { method?: string; params?: { name?: string } };
  return method === 'tools/call' ? params?.name : undefined;
}
