/** What every scenario needs: a server, tabs, and their cleanup. */
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { sharedBrowser } from './browser';
import { Server, type ServerOptions } from './server';
import { Tab } from './tab';

/** Starts one server per file; after each test, checks and closes every tab that it opened. */
export function scenario(options: ServerOptions = {}) {
  const stage = {
    server: undefined as Server | undefined,
    tabs: [] as Tab[],
  };

  beforeAll(async () => {
    const browser = sharedBrowser();
    stage.server = await Server.start(options);
    await browser;
  });

  afterEach(async () => {
    const tabs = stage.tabs.splice(0);
    await Promise.all(tabs.map((tab) => tab.close()));
    for (const tab of tabs) tab.expectNoErrors();
    await stage.server?.mock.verify();
  });

  afterAll(async () => {
    await stage.server?.stop();
  });

  const server = () => {
    if (stage.server === undefined) throw new Error('the server did not start');
    return stage.server;
  };

  return {
    server,
    /** Opens an address of the dashboard in a new tab. */
    visit: async (address = '/', context: BrowserContextOptions = {}): Promise<Tab> => {
      const tab = await Tab.reuse(await sharedBrowser(), server().url, context);
      stage.tabs.push(tab);
      await tab.page.goto(server().url + address);
      // Loading content may still move under the pointer, and a press and release on different elements is not a click.
      await tab.page.waitForFunction(() => document.querySelector('.animate-pulse.bg-idle-soft') === null);
      return tab;
    },
  };
}
