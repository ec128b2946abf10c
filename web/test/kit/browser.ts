/** A real Chromium, and a watch over what no page of ours may do. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { limits } from './limits';

/**
 * Chromium heeds the last --disable-features only, so this repeats what Playwright turns off and scenarios rely on, and adds
 * the pages of the address bar's popup: no test sees them, and loading them took most of a new tab's CPU time.
 */
const disabledFeatures = [
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...[
    'HttpsFirstBalancedModeAutoEnable',
    'LensOverlay',
    'MediaRouter',
    'PaintHolding',
    'ThirdPartyStoragePartitioning',
  ],
  ...['AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled'],
  ...['PreconnectToSearch', 'WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
];

export async function launch(args: string[] = []): Promise<Browser> {
  const executablePath = process.env.TARSY_CHROMIUM;
  if (!executablePath) throw new Error('TARSY_CHROMIUM names no browser: run make test-browser');
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${disabledFeatures.join()}`,
      ...args,
    ],
  });
}

let shared: Promise<Browser> | undefined;

/**
 * The browser of the scenarios: one for all files of a worker, whose tabs have contexts of their own. Playwright ends it with
 * the worker's process.
 */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launch();
  return shared;
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const axeOptions: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  // What passed is not reported in full: that takes longer than the checks.
  resultTypes: ['violations'],
};

/** A tab with a record of its trouble: errors, refusals of the Content-Security-Policy, requests to anywhere else. */
export class Tab {
  readonly trouble: string[] = [];
  /** What the console may say because a scenario provokes it, such as a dropped server. */
  tolerated: RegExp[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
  ) {}

  /** Nothing moves unless a scenario wants it: drawing frames of animations takes more CPU time than most scenarios. */
  static async open(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<Tab> {
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      locale: 'en-GB',
      reducedMotion: 'reduce',
      ...options,
    });
    context.setDefaultTimeout(limits().step);
    const page = await context.newPage();
    const tab = new Tab(context, page);
    page.on('console', (message) => {
      if (message.type() === 'error' || /content security policy/i.test(message.text()))
        tab.trouble.push(message.text());
    });
    page.on('pageerror', (error) => tab.trouble.push(String(error)));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(origin) && !/^(data|blob|about):/.test(url)) tab.trouble.push(`a request to ${url}`);
    });
    return tab;
  }

  /** Nothing went wrong that the scenario did not ask for. */
  expectNoTrouble(): void {
    expect(this.trouble.filter((line) => !this.tolerated.some((pattern) => pattern.test(line)))).toEqual([]);
  }

  /** WCAG 2.2 AA, as far as a program can tell. */
  async expectAccessible(): Promise<void> {
    const { page } = this;
    expect(page.frames().length, 'axe looks at the main frame only').toBe(1);
    if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource);
    const violations = await page.evaluate(async (options) => {
      const { axe } = window as unknown as { axe: { run: (options: RunOptions) => Promise<AxeResults> } };
      return (await axe.run(options)).violations.map(({ id, nodes }) => ({
        id,
        nodes: nodes.map((node) => `${node.html} ${node.failureSummary}`),
      }));
    }, axeOptions);
    expect(violations).toEqual([]);
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
