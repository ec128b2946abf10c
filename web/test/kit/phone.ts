/** A phone on a slow connection: what is transferred until a page is usable, and how long that takes. */
import type { Browser, Page } from 'playwright-core';
import { Tab } from './tab';

/** 400 kbit/s, a latency of 400 ms, and a CPU at a quarter of this machine's speed. */
export const slow3G = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };
const slowdown = 4;

export interface Loaded {
  /** The files loaded by the time the page was usable, with their transfer sizes including headers. */
  files: Map<string, number>;
  /** The time from navigation until then, in milliseconds. */
  took: number;
}

/** Opens an address on a phone with an empty cache. `ready` waits until the page is usable. */
export async function onPhone(
  browser: Browser,
  origin: string,
  path: string,
  ready: (page: Page) => Promise<unknown>,
  connection = slow3G,
): Promise<Loaded> {
  const tab = await Tab.open(browser, origin, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  });
  try {
    const { page, context } = tab;
    const wire = await context.newCDPSession(page);
    await wire.send('Network.enable');
    await wire.send('Network.emulateNetworkConditions', connection);
    if (connection.latency > 0) await wire.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
    const addresses = new Map<string, string>();
    const files = new Map<string, number>();
    wire.on('Network.requestWillBeSent', ({ requestId, request }) => addresses.set(requestId, request.url));
    wire.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const address = addresses.get(requestId);
      if (address !== undefined) files.set(address.slice(origin.length), encodedDataLength);
    });
    const began = performance.now();
    await page.goto(origin + path, { waitUntil: 'commit' });
    await ready(page);
    const took = performance.now() - began;
    const loaded = { files: new Map(files), took };
    tab.expectNoErrors();
    return loaded;
  } finally {
    await tab.close();
  }
}
