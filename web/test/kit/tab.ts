/** A tab that records everything that a page of the dashboard must not do. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { Seat } from './seat';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const axeOptions: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  // Passed checks are not reported in full: that would take longer than the checks.
  resultTypes: ['violations'],
  // A violation is reported with its HTML, so no selector is computed.
  selectors: false,
};

/** A colour in axe, with channels from 0 to 1. */
interface AxeColor {
  r: number;
  g: number;
  b: number;
  alpha: number;
  parseString(text: string): AxeColor;
}

/**
 * Caches the colours that axe parses. For each text, axe parses those of its element and everything behind it again,
 * which took half of its time; a page has only a few dozen colours.
 */
function rememberColors(): void {
  const { axe } = window as unknown as { axe: { commons: { color: { Color: { prototype: AxeColor } } } } };
  const color = axe.commons.color.Color.prototype;
  const parse = color.parseString;
  const parsed = new Map<string, readonly [number, number, number, number]>();
  color.parseString = function (text) {
    const known = parsed.get(text);
    if (known === undefined) {
      parse.call(this, text);
      parsed.set(text, [this.r, this.g, this.b, this.alpha]);
    } else [this.r, this.g, this.b, this.alpha] = known;
    return this;
  };
}

/** A tab that records errors, including violations of the Content-Security-Policy and requests to other origins. */
export class Tab {
  /** What went wrong, and for a console message the address of its request or script. */
  readonly errors: { text: string; url?: string }[] = [];
  /** Console messages that the scenario provokes, such as for a dropped server. */
  tolerated: RegExp[] = [];
  readonly page: Page;
  readonly context: BrowserContext;
  private closed: Promise<void> | undefined;

  private constructor(
    private readonly seat: Seat,
    private readonly origin: string,
  ) {
    this.page = seat.page;
    this.context = seat.page.context();
  }

  /** Opens a tab in a new browser context, with empty caches. */
  static async open(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<Tab> {
    return Tab.at(await Seat.make(browser, options), origin);
  }

  /**
   * Opens a tab for a scenario that does not depend on how the page loads. Only its caches may be from another
   * scenario.
   */
  static async reuse(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<Tab> {
    return Tab.at(await Seat.take(browser, options), origin);
  }

  private static at(seat: Seat, origin: string): Tab {
    const tab = new Tab(seat, origin);
    const { page } = tab;
    page.on('console', (message) => {
      if (message.type() === 'error' || /content security policy/i.test(message.text()))
        tab.errors.push({ text: message.text(), url: message.location().url });
    });
    page.on('pageerror', (error) => tab.errors.push({ text: String(error) }));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(origin) && !/^(data|blob|about):/.test(url)) tab.errors.push({ text: `a request to ${url}` });
    });
    return tab;
  }

  /** Expects that nothing went wrong except what the scenario tolerates. */
  expectNoErrors(): void {
    const errors = this.errors.filter(({ text }) => !this.tolerated.some((pattern) => pattern.test(text)));
    expect(errors.map(({ text, url }) => (url ? `${text} (${url})` : text)).join('\n')).toBe('');
  }

  /** Checks WCAG 2.2 AA, as far as a program can. */
  async expectAccessible(): Promise<void> {
    const { page } = this;
    expect(page.frames().length, 'axe looks at the main frame only').toBe(1);
    if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(`${axeSource}\n(${rememberColors})()`);
    const violations = await page.evaluate(async (options) => {
      const { axe } = window as unknown as { axe: { run: (options: RunOptions) => Promise<AxeResults> } };
      return (await axe.run(options)).violations.map(({ id, nodes }) => ({
        id,
        nodes: nodes.map((node) => `${node.html} ${node.failureSummary}`),
      }));
    }, axeOptions);
    expect(violations).toEqual([]);
  }

  /** Closes the page. The next scenario may reuse its seat, cleared of this one. */
  close(): Promise<void> {
    this.closed ??= this.seat.leave(this.origin);
    return this.closed;
  }
}
