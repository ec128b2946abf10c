/** What every scenario needs: a server, a tab, and their end. */
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { sharedBrowser } from './browser';
import { Server, type ServerOptions } from './server';
import { Tab } from './tab';

/** One server for a file; every tab that a test opened is looked at and closed at its end. */
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
    for (const tab of tabs) tab.expectNoTrouble();
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
    /** Opens an address of the dashboard in a tab of its own. */
    visit: async (address = '/', context: BrowserContextOptions = {}): Promise<Tab> => {
      const tab = await Tab.reuse(await sharedBrowser(), server().url, context);
      stage.tabs.push(tab);
      await tab.page.goto(server().url + address);
      // What loads may still move under the pointer, and a click whose press and release meet different things is none.
      await tab.page.waitForFunction(() => document.querySelector('.animate-pulse.bg-idle-soft') === null);
      return tab;
    },
  };
}
