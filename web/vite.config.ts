import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { inOrder, readHistory } from './test/kit/history';
import { limits, measureSlowness } from './test/kit/limits';
import { Reporter } from './test/kit/reporter';

const src = path.resolve(import.meta.dirname, 'src');

// `npm run dev` serves the page from source and passes everything else to a running server.
const server = process.env.TARSY_SERVER ?? 'http://127.0.0.1:8080';

/** Starts what fails and what takes long first. */
class ByHistory extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return inOrder(files, ({ moduleId }) => path.relative(import.meta.dirname, moduleId), readHistory());
  }
}

// Building the page takes no measurements.
if (process.env.VITEST) measureSlowness();
const { test: testTimeout, hook: hookTimeout, step } = limits();

/** Writes a compressed twin of every text file of the page, which the server sends to browsers that take it. */
function brotli(): Plugin {
  return {
    name: 'brotli',
    apply: 'build',
    writeBundle({ dir = '' }) {
      for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
        if (!/\.(js|css|svg)$/.test(name)) continue;
        const file = path.join(dir, name);
        const text = readFileSync(file);
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
        writeFileSync(`${file}.br`, brotliCompressSync(text, { params }));
      }
    },
  };
}

/** Code of build tools that ends up in the page. */
const helpers = ['vite', 'rolldown'];

/** The directories of the packages that have a part in the page. Workers are built on their own, before the page. */
const used = new Set<string>();

/** Notes the package that a module or an asset comes from, unless it is ours. */
function use(id: string) {
  const helper = helpers.find((name) => id.startsWith(`\0${name}/`));
  const directory = helper
    ? path.join(import.meta.dirname, 'node_modules', helper)
    : /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0];
  if (directory) used.add(directory);
}

/** Notes which packages have a part in the page or in a worker. */
function usedPackages(): Plugin {
  return {
    name: 'used-packages',
    apply: 'build',
    transform(_, id) {
      // Tailwind resolves imports of styles itself, so they are no modules.
      if (!id.startsWith(src) || !id.endsWith('.css')) return;
      for (const [, name] of readFileSync(id, 'utf8').matchAll(/^@import "((?:@[^/"]+\/)?[^/".]+)/gm)) {
        use(path.join(import.meta.dirname, 'node_modules', name ?? ''));
      }
    },
    generateBundle(_, bundle) {
      for (const output of Object.values(bundle)) {
        if (output.type === 'asset') {
          for (const file of output.originalFileNames) use(path.resolve(import.meta.dirname, file));
          continue;
        }
        for (const [id, module] of Object.entries(output.modules)) if (module.renderedLength > 0) use(id);
      }
    },
  };
}

/**
 * Writes bundled.json, the packages whose licences the binary has to contain (make licenses). It is beside this file and not
 * in dist, because the server serves all of dist.
 */
function bundled(): Plugin {
  const file = path.join(import.meta.dirname, 'bundled.json');

  return {
    name: 'bundled',
    apply: 'build',
    writeBundle() {
      const names = [...used].map((directory) => {
        const { name, version } = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8'));
        return `${name}@${version}`;
      });
      const text = `${JSON.stringify([...new Set(names)].sort(), null, 2)}\n`;
      if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
    },
  };
}

const packages = (...names: string[]) => new RegExp(`/node_modules/(?:${names.join('|')})/`);

/** Parts of the page that are not for all pages: pages themselves, what lies over them, charts. */
const aside =
  /\/src\/(pages\/([^/]+\/(page|note)|session\/(claim|rating|steps|ticks|verdict|verdict-text|timeline\/look)\.)|alert\/silence-dialog|app\/(help|menus|palette|pause-dialog|shell)|ui\/(overlay|tabs|confirm|sheet|plot|day-chart|trend)|result)/;

/**
 * Few files: on a connection with a long way each one costs more than its bytes. What is shown first is one, what every page
 * needs is two, what lies over a page another, and each page has one of its own. A group takes along what its modules import,
 * unless a group of a higher priority has it.
 */
const groups = [
  { name: 'first', priority: 5, test: /\/src\/first\/|vite\/(preload-helper|modulepreload)|rolldown\/runtime/ },
  {
    name: 'base',
    priority: 4,
    test: packages(
      'react',
      'react-dom',
      'scheduler',
      'use-sync-external-store',
      '@tanstack/[^/]+',
      'openapi-fetch',
      'clsx',
      'tailwind-merge',
      'class-variance-authority',
      'get-nonce',
      '@radix-ui/react-slot',
      '@radix-ui/react-compose-refs',
    ),
  },
  {
    name: 'shared',
    priority: 3,
    minShareCount: 2,
    // Whatever imports what lies over a page, or charts, would take it along.
    test: (id: string) => (/\/src\//.test(id) && !aside.test(id)) || /\/node_modules\/lucide-react\//.test(id),
  },
  {
    name: 'overlay',
    priority: 2,
    test: /\/node_modules\/(radix-ui|@radix-ui|@floating-ui|react-remove-scroll[^/]*|aria-hidden)\/|\/src\/(ui\/(overlay|tabs|confirm|sheet)|alert\/silence-dialog)\.tsx$/,
  },
  { name: 'result', priority: 1, minShareCount: 2, test: /\/src\/result\/(?!series-chart)/ },
];

/** Unit tests that need a document. */
const documents = ['src/**/*.dom.test.{ts,tsx}'];

export default defineConfig({
  plugins: [react({ jsxImportSource: '@/jsx' }), tailwindcss(), brotli(), usedPackages(), bundled()],
  worker: { plugins: () => [usedPackages()] },
  resolve: { alias: { '@': src } },
  build: {
    target: 'es2023',
    // A data: URL in a script or a style is what the page's Content-Security-Policy forbids.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: 'manifest.json',
    // Streamed Markdown is the largest part, and only the pages that show some load it.
    chunkSizeWarningLimit: 600,
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/health', '/openapi.json', '/livez', '/readyz'].map((prefix) => [prefix, { target: server, ws: true }]),
    ),
  },
  test: {
    sequence: { sequencer: ByHistory },
    reporters: [new Reporter()],
    testTimeout,
    hookTimeout,
    // What a scenario waits for takes milliseconds, and many times that on a machine that is busy. By default expect.poll waits a second.
    expect: { poll: { timeout: step } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.{ts,tsx}', 'test/kit/**/*.test.ts'],
          exclude: documents,
          environment: 'node',
          // The files of a worker share its modules: to load them for each file took most of the time of all tests.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'dom',
          include: documents,
          // React keeps the document that it has found first, so each file loads its own.
          environment: 'jsdom',
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          environment: 'node',
          globalSetup: 'test/kit/setup.ts',
          // A scenario that passes only the second time is flaky, and the reporter fails the run with its name.
          retry: 1,
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
          maxWorkers: 1,
        },
      },
      {
        extends: true,
        test: {
          name: 'bench',
          include: ['test/bench/**/*.test.ts'],
          environment: 'node',
          maxWorkers: 1,
        },
      },
    ],
  },
});
