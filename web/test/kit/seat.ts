/**
 * A browser context with one page, used by one scenario after another. A new context has a new process, which compiles
 * the app's code again: a quarter to a third of the CPU time of a load.
 */
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import { limits } from './limits';

/** Animations are off by default: rendering their frames takes more CPU time than most scenarios. */
const defaults = { viewport: { width: 1440, height: 900 }, locale: 'en-GB', reducedMotion: 'reduce' } as const;

/**
 * The options that can be changed for the next scenario. A context with any other option is closed after its scenario.
 */
const changeable = new Set(['viewport', 'colorScheme', 'reducedMotion', 'permissions']);

/** Calls whose effect cannot be undone: after one of them, the page is closed with its scenario. */
const lasting = {
  page: ['addInitScript', 'addLocatorHandler', 'exposeBinding', 'exposeFunction', 'route', 'routeWebSocket'],
  context: [
    ...['addInitScript', 'exposeBinding', 'exposeFunction', 'newCDPSession', 'route', 'routeWebSocket'],
    ...['setExtraHTTPHeaders', 'setGeolocation', 'setOffline'],
  ],
  clock: ['install', 'setFixedTime', 'setSystemTime'],
};

/** The events that scenarios subscribe to. Playwright itself subscribes to others and needs them to close a context. */
const heard = [
  ...['console', 'dialog', 'download', 'framenavigated', 'page', 'pageerror', 'popup', 'weberror', 'websocket'],
  ...['request', 'requestfailed', 'requestfinished', 'response'],
];

/** The free seats. */
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

  /** Takes a free seat or creates one; either way it is in the state of a new context with these options. */
  static async take(browser: Browser, options: BrowserContextOptions): Promise<Seat> {
    const reusable = Object.keys(options).every((option) => changeable.has(option));
    const seat = reusable ? free.get(browser)?.pop() : undefined;
    if (seat === undefined) return Seat.make(browser, options, reusable);
    await seat.change({ ...defaults, ...options });
    return seat;
  }

  /** Creates a seat with a new context. */
  static async make(browser: Browser, options: BrowserContextOptions, reusable = false): Promise<Seat> {
    const context = await browser.newContext({ ...defaults, ...options });
    context.setDefaultTimeout(limits().step);
    const page = await context.newPage();
    return new Seat(page, context, await context.newCDPSession(page), reusable);
  }

  private async change({ viewport, colorScheme, reducedMotion, permissions }: BrowserContextOptions): Promise<void> {
    const media = { media: null, forcedColors: 'none', contrast: 'no-preference' } as const;
    await Promise.all([
      this.page.setViewportSize(viewport ?? defaults.viewport),
      this.page.emulateMedia({ ...media, colorScheme: colorScheme ?? 'light', reducedMotion }),
      permissions && this.context.grantPermissions(permissions),
    ]);
  }

  /** Leaves the page, and keeps the seat for the next scenario if nothing of this one is left. */
  async leave(origin: string): Promise<void> {
    const kept = this.reusable && (await this.clear(origin).catch(() => false));
    const browser = this.context.browser();
    if (!kept || browser === null) return this.context.close();
    free.set(browser, [...(free.get(browser) ?? []), this]);
  }

  /** Fails if the server is gone or the page has crashed. */
  private async clear(origin: string): Promise<boolean> {
    const { page, context } = this;
    // Events that the page has sent so far arrive before this response.
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
    // A response without scripts, from which the origin's storage can be accessed.
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
