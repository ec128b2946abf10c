import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { inOrder, readHistory, usualHistory } from './test/kit/history.ts';
import { limits, measureSlowness } from './test/kit/limits.ts';
import { Reporter } from './test/kit/reporter.ts';

const src = path.resolve(import.meta.dirname, 'src');

// `npm run dev` serves the dashboard from source and proxies API requests to a running server.
const server = process.env.TARSY_SERVER ?? 'http://127.0.0.1:8080';

/** Starts failing and slow test files first. */
class ByHistory extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const history = { ...usualHistory(), ...readHistory() };
    return inOrder(files, ({ moduleId }) => path.relative(import.meta.dirname, moduleId), history);
  }
}

// A build needs no measurement.
if (process.env.VITEST) measureSlowness();
const { test: testTimeout, hook: hookTimeout, step } = limits();

/** Writes a compressed copy of every text file, which the server sends to browsers that accept it. */
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

/** Code of build tools that is bundled. */
const helpers = ['vite', 'rolldown'];

/** The directories of the bundled packages. Workers are built separately, before the page. */
const used = new Set<string>();

/** Records the package of a module or an asset, unless it is ours. */
function use(id: string) {
  const helper = helpers.find((name) => id.startsWith(`\0${name}/`));
  const directory = helper
    ? path.join(import.meta.dirname, 'node_modules', helper)
    : /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0];
  if (directory) used.add(directory);
}

/** Records which packages are bundled into the page or a worker. */
function usedPackages(): Plugin {
  return {
    name: 'used-packages',
    apply: 'build',
    transform(_, id) {
      // Tailwind resolves CSS imports itself, so they are not modules.
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
 * Writes bundled.json, the packages whose licences the binary must contain (make licenses). It is next to this file and
 * not in dist, because the server serves all of dist.
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

/** What a function that names a group learns about modules. */
interface ChunkingContext {
  getModuleInfo(id: string): { importers: readonly string[] } | null;
}

const packages = (...names: string[]) => new RegExp(`/node_modules/(?:${names.join('|')})/`);

/** Code that not every page needs: the pages themselves, overlays and charts. */
const aside =
  /\/src\/(approval\/|pages\/([^/]+\/(page|note)|session\/(claim|rating|steps|ticks|verdict|verdict-text|timeline\/look)\.)|alert\/silence-dialog|handling\/dialogs|app\/(help|menus|palette|pause-dialog|shell)|ui\/(overlay|tabs|confirm|sheet|plot|day-chart|trend)|result)/;

/** Returns the modules that need a module as soon as they run, directly or through others. */
function neededBy(id: string, ctx: ChunkingContext, seen = new Set<string>()): Set<string> {
  if (seen.has(id)) return seen;
  seen.add(id);
  for (const importer of ctx.getModuleInfo(id)?.importers ?? []) neededBy(importer, ctx, seen);
  return seen;
}

/** The code that several pages share, if one of these files needs it. */
const sharedBy = (name: string, priority: number, users: string[]) => ({
  name: (id: string, ctx: ChunkingContext) => {
    const all = neededBy(id, ctx);
    return users.length === 0 || users.some((user) => all.has(path.join(src, user))) ? name : null;
  },
  debugName: name,
  priority,
  minShareCount: 2,
  // Without `aside`: a module that imports overlays or charts would pull them into this group.
  test: (id: string) => (/\/src\//.test(id) && !aside.test(id)) || /\/node_modules\/lucide-react\//.test(id),
});

/**
 * Groups the code into few files: on a high-latency connection each file costs more than its bytes. The first view is
 * one file, the code of every page two, what else a session shows first another, and so are the code of other pages and
 * the overlays; each page has its own. A group includes what its modules import, unless a group of higher priority has
 * it.
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
  sharedBy('shared', 3.2, ['main.tsx', 'pages/sessions/page.tsx']),
  sharedBy('session', 3.1, ['pages/session/page.tsx']),
  sharedBy('common', 3, []),
  {
    name: 'overlay',
    priority: 2,
    test: /\/node_modules\/(radix-ui|@radix-ui|@floating-ui|react-remove-scroll[^/]*|aria-hidden)\/|\/src\/(ui\/(overlay|tabs|confirm|sheet)|alert\/silence-dialog|handling\/dialogs)\.tsx$/,
  },
  { name: 'result', priority: 1, minShareCount: 2, test: /\/src\/result\/(?!series-chart)/ },
];

/** Unit tests that need a DOM. */
const documents = ['src/**/*.dom.test.{ts,tsx}'];

export default defineConfig({
  plugins: [react({ jsxImportSource: '@/jsx' }), tailwindcss(), brotli(), usedPackages(), bundled()],
  worker: { plugins: () => [usedPackages()] },
  resolve: { alias: { '@': src } },
  build: {
    target: 'es2023',
    // The page's Content-Security-Policy forbids data: URLs in scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: 'manifest.json',
    // The Markdown renderer is the largest file, and only pages that show Markdown load it.
    chunkSizeWarningLimit: 600,
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/docs', '/health', '/openapi.json', '/livez', '/readyz'].map((prefix) => [
        prefix,
        { target: server, ws: true },
      ]),
    ),
  },
  test: {
    sequence: { sequencer: ByHistory },
    reporters: [new Reporter()],
    testTimeout,
    hookTimeout,
    // Each wait takes milliseconds, and many times that on a busy machine. By default expect.poll waits one second.
    expect: { poll: { timeout: step } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.{ts,tsx}', 'test/kit/**/*.test.ts'],
          exclude: documents,
          environment: 'node',
          // The files of a worker share its modules: loading them for each file took most of the time of all tests.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'dom',
          include: documents,
          // React keeps the first document that it finds, so each file loads its own.
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
          // A scenario that passes only on the second try is flaky, and the reporter lists it and fails the run.
          retry: 1,
          // The files of a worker share its modules and its browser, which take longer to load than most scenarios.
          isolate: false,
          // One more than the cores of a small machine, because scenarios also wait for servers and leases.
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
