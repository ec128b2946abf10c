/**
 * The output of a test run: a few lines if it passes, every failure in full if not. A test that fails and then passes
 * on retry is flaky: it is listed with its first error, and the run fails.
 */
import path from 'node:path';
import { DefaultReporter, type TestCase, type TestModule, type TestSpecification, type Vitest } from 'vitest/node';
import { remember } from './history.ts';

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** Clears the progress line of the terminal. */
const cleared = '\r\u001b[K';

export class Reporter extends DefaultReporter {
  private files = { all: 0, done: 0 };
  private done: TestCase[] = [];
  private failed = 0;

  /** `history` is the file of the history; there is a default one. */
  constructor(private readonly history?: string) {
    super({ summary: false });
  }

  override onInit(vitest: Vitest): void {
    this.ctx = vitest;
  }

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.files = { all: specifications.length, done: 0 };
    this.done = [];
    this.failed = 0;
  }

  override onTestCaseResult(test: TestCase): void {
    this.done.push(test);
    if (test.result().state === 'failed') this.failed++;
    this.showProgress();
  }

  override onTestModuleEnd(): void {
    this.files.done++;
    this.showProgress();
  }

  override onTestSuiteResult(): void {}

  /** The base class prints the errors of failed tests, and then the summary. */
  override reportSummary(...run: Parameters<DefaultReporter['reportSummary']>): void {
    if (this.isTTY) process.stdout.write(cleared);
    super.reportSummary(...run);
  }

  override reportTestSummary(): void {
    const flaky = this.done.filter(isFlaky);
    const skipped = this.done.filter((test) => test.result().state === 'skipped');
    for (const test of skipped) this.log(`skipped: ${nameOf(test)}: ${reasonOf(test)}`);
    for (const test of flaky) {
      this.log(`flaky: ${nameOf(test)}`);
      for (const error of test.result().errors?.slice(0, 1) ?? []) this.log(indent(error.stack ?? error.message));
    }
    // A flaky test is a bug: whatever the retry showed, the run has failed.
    if (flaky.length > 0) process.exitCode = 1;

    const passed = this.done.length - this.failed - flaky.length - skipped.length;
    const counts = [
      `${passed} passed`,
      ...[
        [this.failed, 'failed'],
        [flaky.length, 'flaky'],
        [skipped.length, 'skipped'],
      ]
        .filter(([number]) => number !== 0)
        .map(([number, word]) => `${number} ${word}`),
    ];
    this.log(`${counts.join(', ')} in ${count(this.files.done, 'file')}, ${seconds(this.end - this.start)}`);
    const took = (test: TestCase) => test.diagnostic()?.duration ?? 0;
    const slowest = this.done.toSorted((a, b) => took(b) - took(a)).slice(0, 3);
    this.log(`slowest: ${slowest.map((test) => `${nameOf(test)} (${seconds(took(test))})`).join('; ')}`);
    const modules = this.ctx.state.getTestModules();
    remember(Object.fromEntries(modules.map((module) => [fileOf(module), recordOf(module)])), this.history);
  }

  private showProgress(): void {
    if (!this.isTTY) return;
    const { all, done } = this.files;
    const failed = this.failed === 0 ? '' : `, ${this.failed} failed`;
    process.stdout.write(`${cleared}${done} of ${count(all, 'file')}, ${count(this.done.length, 'test')}${failed}`);
  }
}

const isFlaky = (test: TestCase) => test.result().state === 'passed' && (test.diagnostic()?.retryCount ?? 0) > 0;
const nameOf = (test: TestCase) => `${path.basename(test.module.moduleId)} > ${test.fullName}`;
const indent = (text: string) => text.replace(/^/gm, '    ');
const fileOf = (module: TestModule) => module.relativeModuleId;

function reasonOf(test: TestCase): string {
  const result = test.result();
  return (result.state === 'skipped' && result.note) || 'no reason given';
}

/** Running only some tests of a file does not show how long all of them take. */
function recordOf(module: TestModule): { took?: number; failed: boolean } {
  const tests = [...module.children.allTests()];
  const failed = !module.ok() || tests.some(isFlaky);
  const whole = tests.every((test) => test.result().state !== 'skipped');
  return whole && !failed ? { took: module.diagnostic().duration, failed } : { failed };
}
