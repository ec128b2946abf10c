/**
 * Where pages are shown: a browser context with one page in it. Scenarios take one after another. A new context has a new
 * process, which compiles the whole program of the page: a quarter to a third of the CPU time of a load.
 */
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import { limits } from './limits';

/** Nothing moves unless a scenario wants it: drawing frames of animations takes more CPU time than most scenarios. */
const usual = { viewport: { width: 1440, height: 900 }, locale: 'en-GB', reducedMotion: 'reduce' } as const;

/** The options that can be changed for the next scenario. A context with any other one ends with its scenario. */
const changeable = new Set(['viewport', 'colorScheme', 'reducedMotion', 'permissions']);

/** What leaves something behind that cannot be undone: a page that was asked for one of these ends with its scenario. */
const lasting = {
  page: ['addInitScript', 'addLocatorHandler', 'exposeBinding', 'exposeFunction', 'route', 'routeWebSocket'],
  context: [
    ...['addInitScript', 'exposeBinding', 'exposeFunction', 'newCDPSession', 'route', 'routeWebSocket'],
    ...['setExtraHTTPHeaders', 'setGeolocation', 'setOffline'],
  ],
  clock: ['install', 'setFixedTime', 'setSystemTime'],
};

/** The events that scenarios listen to. Playwright itself listens to others, and needs them to close a context. */
const heard = [
  ...['console', 'dialog', 'download', 'framenavigated', 'page', 'pageerror', 'popup', 'weberror', 'websocket'],
  ...['request', 'requestfailed', 'requestfinished', 'response'],
];

/** The seats that nobody uses now. */
const free = new WeakMap<Browser, Seat[]>();

export class Seat {
  private constructor(
    readonly page: Page,
    private readonly context: BrowserContext,
    private readonly wire: CDPSession,
    private reusable: boolean,
  ) {
    this.watch(page, lasting.page);
    this.watch(context, lasting.context);
    this.watch(context.clock, lasting.clock);
  }

  /** Finds a seat that is free or makes one; either has what a new context with these options has. */
  static async take(browser: Browser, options: BrowserContextOptions): Promise<Seat> {
    const reusable = Object.keys(options).every((option) => changeable.has(option));
    const seat = reusable ? free.get(browser)?.pop() : undefined;
    if (seat === undefined) return Seat.make(browser, options, reusable);
    await seat.change({ ...usual, ...options });
    return seat;
  }

  /** Makes a seat with a new context. */
  static async make(browser: Browser, options: BrowserContextOptions, reusable = false): Promise<Seat> {
    const context = await browser.newContext({ ...usual, ...options });
    context.setDefaultTimeout(limits().step);
    const page = await context.newPage();
    return new Seat(page, context, await context.newCDPSession(page), reusable);
  }

  private async change({ viewport, colorScheme, reducedMotion, permissions }: BrowserContextOptions): Promise<void> {
    const media = { media: null, forcedColors: 'none', contrast: 'no-preference' } as const;
    await Promise.all([
      this.page.setViewportSize(viewport ?? usual.viewport),
      this.page.emulateMedia({ ...media, colorScheme: colorScheme ?? 'light', reducedMotion }),
      permissions && this.context.grantPermissions(permissions),
    ]);
  }

  /** Ends the page of an origin, and keeps the seat for the next scenario if nothing of this one is left there. */
  async leave(origin: string): Promise<void> {
    const kept = this.reusable && (await this.clear(origin).catch(() => false));
    const browser = this.context.browser();
    if (!kept || browser === null) return this.context.close();
    free.set(browser, [...(free.get(browser) ?? []), this]);
  }

  /** Fails where the server is gone or the page has crashed. */
  private async clear(origin: string): Promise<boolean> {
    const { page, context } = this;
    // What the page has reported so far arrives before the answer to this.
    await page.evaluate(() => undefined);
    for (const event of heard) {
      page.removeAllListeners(event);
      context.removeAllListeners(event);
    }
    await Promise.all(
      context
        .pages()
        .filter((other) => other !== page)
        .map((other) => other.close()),
    );
    // An answer without a program, where the storage of the origin can be reached.
    await page.goto(`${origin}/livez`);
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await Promise.all([
      page.mouse.move(0, 0),
      context.clearCookies(),
      context.clearPermissions(),
      this.wire.send('Page.resetNavigationHistory'),
    ]);
    return this.reusable;
  }

  private watch(target: object, methods: readonly string[]): void {
    for (const name of methods) {
      const method = Reflect.get(target, name) as (...args: unknown[]) => unknown;
      Reflect.set(target, name, (...args: unknown[]) => {
        this.reusable = false;
        return Reflect.apply(method, target, args);
      });
    }
  }
}
