/** Launches a real Chromium. */
import { type Browser, chromium } from 'playwright-core';

/**
 * Chromium uses only the last --disable-features, so this repeats the features that Playwright disables and scenarios
 * rely on, and adds those of the address bar's popup pages: no test sees them, and loading them took most of a new
 * tab's CPU time.
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
 * Returns the browser of the scenarios: one for all files of a worker, with a separate context per tab. Playwright
 * closes it when the worker's process ends.
 */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launch();
  return shared;
}
