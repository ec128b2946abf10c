/** A real Chromium. */
import { type Browser, chromium } from 'playwright-core';

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
