/** Ends a run with one plain line, `N passed, N failed`, for whoever reads the output by machine. */
import type { Reporter, TestModule } from 'vitest/node'

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    let passed = 0
    let failed = 0
    for (const testModule of modules) {
      // A file that could not even be loaded has no tests to count, and is a failure.
      if (testModule.state() === 'failed' && testModule.children.size === 0) failed += 1
      for (const test of testModule.children.allTests()) {
        if (test.result().state === 'passed') passed += 1
        else failed += 1
      }
    }
    process.stdout.write(`${passed} passed, ${failed} failed\n`)
  }
}
