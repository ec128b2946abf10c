import path from 'node:path';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const src = path.resolve(import.meta.dirname, 'src');

// `npm run dev` serves the page from source and passes everything else to a running server.
const server = process.env.TARSY_SERVER ?? 'http://127.0.0.1:8080';

/** Starts the longest files first, so that no worker is left alone with one of them at the end. */
class LongestFirst extends BaseSequencer {
  private static readonly longest = ['ten-thousand', 'look-light', 'look-dark', 'keyboard', 'system'];

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = LongestFirst.longest.indexOf(path.basename(moduleId, '.test.ts'));
      return place < 0 ? LongestFirst.longest.length : place;
    };
    return files.toSorted((a, b) => rank(a) - rank(b) || a.moduleId.localeCompare(b.moduleId));
  }
}

export default defineConfig({
  plugins: [react({ jsxImportSource: '@/jsx' }), tailwindcss()],
  resolve: { alias: { '@': src } },
  build: {
    target: 'es2023',
    // A data: URL in a script or a style is what the page's Content-Security-Policy forbids.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: 'manifest.json',
    // Streamed Markdown is the largest part, and only the pages that show some load it.
    chunkSizeWarningLimit: 600,
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/health', '/openapi.json', '/livez', '/readyz'].map((prefix) => [prefix, { target: server, ws: true }]),
    ),
  },
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.{ts,tsx}'],
          environment: 'node',
          // Properties run hundreds of cases: five seconds are not enough on a machine that is busy.
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          environment: 'node',
          globalSetup: 'test/kit/setup.ts',
          // What a scenario waits for takes milliseconds, and many times that on a machine that is busy. By default expect.poll waits a second.
          testTimeout: 120_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 30_000 } },
          // The files of a worker share its modules and its browser, which take longer to load than most scenarios.
          isolate: false,
          // One more than the cores of a small machine: scenarios also wait for servers and leases.
          maxWorkers: 3,
        },
      },
      {
        extends: true,
        test: {
          name: 'screenshots',
          include: ['test/screenshots/**/*.test.ts'],
          environment: 'node',
          testTimeout: 180_000,
          hookTimeout: 120_000,
          maxWorkers: 1,
        },
      },
      {
        extends: true,
        test: {
          name: 'bench',
          include: ['test/bench/**/*.test.ts'],
          environment: 'node',
          testTimeout: 300_000,
          hookTimeout: 300_000,
          maxWorkers: 1,
        },
      },
    ],
  },
});
