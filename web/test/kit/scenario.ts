/** What every scenario needs: a server, a browser, a tab, and their end. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { launch, Tab } from './browser';
import { Server, type ServerOptions } from './server';

/** One server and one browser for a file; every tab that a test opened is looked at and closed at its end. */
export function scenario(options: ServerOptions = {}) {
  const stage = {
    server: undefined as Server | undefined,
    browser: undefined as Browser | undefined,
    tabs: [] as Tab[],
  };

  beforeAll(async () => {
    [stage.server, stage.browser] = await Promise.all([Server.start(options), launch()]);
  });

  afterEach(async () => {
    const tabs = stage.tabs.splice(0);
    await Promise.all(tabs.map((tab) => tab.close()));
    for (const tab of tabs) tab.expectNoTrouble();
    await stage.server?.mock.verify();
  });

  afterAll(async () => {
    await stage.browser?.close();
    await stage.server?.stop();
  });

  const server = () => {
    if (stage.server === undefined) throw new Error('the server did not start');
    return stage.server;
  };

  return {
    server,
    /** Opens an address of the dashboard in a tab of its own. */
    visit: async (address = '/', context: BrowserContextOptions = {}): Promise<Tab> => {
      if (stage.browser === undefined) throw new Error('the browser did not start');
      const tab = await Tab.open(stage.browser, server().url, context);
      stage.tabs.push(tab);
      await tab.page.goto(server().url + address);
      return tab;
    },
  };
}
