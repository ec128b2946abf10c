/** The real server: the built binary with a private PostgreSQL and a scripted model. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { makeDirectory } from './directory';
import { limits } from './limits';
import { Mock } from './mock';
import { binary, Program } from './process';
import { Turnstile } from './turnstile';

export interface ServerOptions {
  /** The script of the model and the MCP servers, as described in docs/scripts.md. */
  script?: string;
  /** Agents and chains; the providers and MCP servers of the script are added. */
  config?: string;
  /** The names of the script's MCP servers. */
  mcp?: string[];
  /** Further settings of each of them, such as `summarization: {enabled: true}`. */
  mcpSettings?: string;
  /** Tools whose results wait until the test opens their turnstile. */
  held?: string[];
  /**
   * Asks for a verdict at the end of each session; the script then needs a reply to "Write the verdict of this
   * analysis".
   */
  verdict?: boolean;
  /** Further settings of `defaults`, such as `repeated_calls: {warn: 0, conclude: 0}`. */
  defaults?: string;
  /** Further settings of `system`, such as `budgets: {daily: {max_cost_usd: 50}}`. */
  system?: string;
  /** The names of further LLM providers, which use the same script. */
  providers?: string[];
  /** Requires API keys. */
  auth?: boolean;
  /** Lets people log in with the mock's issuer. It has another host name, so that browsers treat it as another site. */
  oidc?: boolean;
}

/** Replaces the built-in MCP server, a program from the npm registry, with an address where nothing responds. */
export const noBuiltinServer = '  kubernetes-server: {transport: {type: http, url: "http://127.0.0.1:9/mcp"}}';

/** A chain with one agent that also takes questions, for tests that need nothing more. */
export const plainChain = `
agents:
  Investigator: {mcp_servers: [cluster]}
agent_chains:
  plain:
    description: One agent investigates.
    alert_types: [pod-crash]
    stages: [{name: investigation, agents: [{name: Investigator}]}]
    chat: {enabled: true}
`;

/** The script for plainChain: the agent concludes immediately. */
export const plainScript = `
version: 1
routes:
  - when: {agent: Investigator}
    replies: [{text: The pod ran out of memory., times: forever}]
  - when: {user: Summarize this analysis}
    replies: [{text: Out of memory., times: forever}]
mcp_servers: {cluster: {tools: [{name: get_pods, read_only: true, results: [{text: web-1}]}]}}
`;

export class Server {
  url = '';
  /** The first API key of a server that requires keys. */
  key = '';
  private program: Program | undefined;

  private constructor(
    readonly mock: Mock,
    readonly turnstile: Turnstile,
    private readonly directory: string,
    private readonly auth: boolean,
  ) {}

  static async start(options: ServerOptions = {}): Promise<Server> {
    const directory = makeDirectory('tarsy-web-');
    const [mock] = await Promise.all([
      Mock.start(binary, directory, options.script ?? plainScript, options.oidc ? ['--oidc'] : []),
      copyPrepared(path.join(directory, 'data')),
    ]);
    const turnstile = await Turnstile.start(mock.url, options.held ?? []);
    const users = options.oidc
      ? `auth: {oidc: {issuer: "${mock.url.replace('127.0.0.1', 'localhost')}/oidc", client_id: tarsy, label: Log in with Example}, roles: {admin: [admins], responder: [responders], viewer: [viewers]}},`
      : '';
    const tools = options.held === undefined ? mock.url : turnstile.url;
    const servers = options.mcp ?? ['cluster'];
    mkdirSync(path.join(directory, 'config'));
    writeFileSync(
      path.join(directory, 'config', 'tarsy.yaml'),
      [
        options.config ?? plainChain,
        'llm_providers:',
        ...['scripted', ...(options.providers ?? [])].map(
          (name) =>
            `  ${name}: {type: openai, model: ${name}-model, api_key_env: SCRIPT_KEY, base_url: "${mock.url}/v1"}`,
        ),
        'mcp_servers:',
        noBuiltinServer,
        ...servers.map(
          (name) => `  ${name}: {transport: {type: http, url: "${tools}/mcp/${name}"}, ${options.mcpSettings ?? ''}}`,
        ),
        `defaults: {llm_provider: scripted, alert_type: pod-crash, max_iterations: 200, iteration_timeout: 30m, verdict: ${options.verdict ?? false}, ${options.defaults ?? ''}}`,
        'queue: {orphan_threshold: 2s, heartbeat_interval: 500ms}',
        `system: {cost_estimation: {model_rates: {scripted-model: {input_per_million: 3, output_per_million: 15}}}, ${users} ${options.system ?? ''}}`,
        '',
      ].join('\n'),
    );
    const server = new Server(mock, turnstile, directory, options.auth ?? false);
    try {
      await server.run('127.0.0.1:0');
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  private async run(listen: string): Promise<void> {
    const at = (...parts: string[]) => path.join(this.directory, ...parts);
    this.program = new Program(
      binary,
      [
        'serve',
        '--data-dir',
        at('data'),
        '--config-dir',
        at('config'),
        '--listen',
        listen,
        '--auth',
        this.auth ? 'on' : 'off',
      ],
      { SCRIPT_KEY: 'a-key-of-the-script' },
    );
    const [, url] = await this.program.line(/listens on (http:\/\/\S+)/);
    this.url = url ?? '';
    if (this.auth && this.key === '') {
      this.key = readFileSync(at('data', 'admin-key'), 'utf8').trim();
    }
  }

  /** Kills the server like a crash; the database keeps running. */
  async crash(): Promise<void> {
    await this.program?.kill();
  }

  /** Restarts the server at the same address. */
  async restart(): Promise<void> {
    await this.run(new URL(this.url).host);
  }

  /** Calls the server's API. */
  async ask<T>(method: string, address: string, json?: unknown): Promise<T> {
    const answer = await fetch(this.url + address, {
      method,
      headers: {
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(this.key ? { Authorization: `Bearer ${this.key}` } : {}),
      },
      body: json === undefined ? undefined : JSON.stringify(json),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${address}: ${answer.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  /** Submits an alert and returns the session's id. */
  async submit(data: unknown = 'The pod web-1 crashes.', alertType = 'pod-crash'): Promise<string> {
    const { session_id } = await this.ask<{ session_id: string }>('POST', '/api/v1/alerts', {
      alert_type: alertType,
      data,
    });
    return session_id;
  }

  /** Waits for the end of a session, when its event stream ends, and returns its status. */
  async waitUntilEnded(id: string): Promise<string> {
    const answer = await fetch(`${this.url}/api/v1/sessions/${id}/events`, {
      headers: this.key ? { Authorization: `Bearer ${this.key}` } : {},
    });
    const text = await answer.text();
    const end = text.match(/event: end\ndata: (.*)/);
    if (end?.[1] === undefined) throw new Error(`the events of ${id} ended early: ${text.slice(-500)}`);
    return (JSON.parse(end[1]) as { status: string }).status;
  }

  /** Stops everything. The data is not read again, so nothing is shut down gracefully. */
  async stop(): Promise<void> {
    await this.program?.kill();
    await Promise.all([this.turnstile.stop(), this.mock.stop(), this.stopDatabase()]);
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** The private PostgreSQL survives when its server is killed. */
  private async stopDatabase(): Promise<void> {
    let pid: number;
    try {
      pid = Number(
        readFileSync(path.join(this.directory, 'data', 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0],
      );
      process.kill(pid, 'SIGQUIT');
    } catch {
      return; // it did not start, or has already stopped
    }
    for (const limit = Date.now() + limits().step; isRunning(pid) && Date.now() < limit; ) await sleep(10);
  }
}

/**
 * Copies the data directory prepared once per run. If the tests run as root, its files may belong to the user that
 * PostgreSQL runs as.
 */
async function copyPrepared(directory: string): Promise<void> {
  const prepared = inject('preparedData');
  if (prepared !== undefined) await promisify(execFile)('cp', ['-a', prepared, directory]);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
