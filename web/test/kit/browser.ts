/** A real Chromium, and a watch over what no page of ours may do. */
import AxeBuilder from '@axe-core/playwright';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

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
      ...args,
    ],
  });
}

/** A tab with a record of its trouble: errors, refusals of the Content-Security-Policy, requests to anywhere else. */
export class Tab {
  readonly trouble: string[] = [];
  /** What the console may say because a scenario provokes it, such as a dropped server. */
  tolerated: RegExp[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
  ) {}

  static async open(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<Tab> {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', ...options });
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
    const { violations } = await new AxeBuilder({ page: this.page })
      .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
      .analyze();
    expect(
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map((node) => `${node.html} ${node.failureSummary}`) })),
    ).toEqual([]);
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
