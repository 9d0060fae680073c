import { defineConfig } from 'vitest/config'

const resolve = { conditions: ['source', 'node', 'import', 'default'] }
const ssr = { resolve: { conditions: ['source', 'node', 'import', 'default'] } }

// "unit" needs nothing but Node; "system" needs socat, gpsd and Debian's python3-pymodbus.
export default defineConfig({
  test: {
    reporters: ['default', './test/closing-line.ts'],
    projects: [
      {
        resolve,
        ssr,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/system/**', 'test/pty/**', 'test/blackbox/*.process.test.ts'],
          testTimeout: 30_000,
        },
      },
      {
        resolve,
        ssr,
        test: {
          name: 'system',
          include: ['test/system/**/*.test.ts', 'test/pty/**/*.test.ts', 'test/blackbox/*.process.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
