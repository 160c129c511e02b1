import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const project = (name: string, include: string[], more = {}) => ({
  extends: true as const,
  test: { name, include, ...more },
})

/**
 * A process and the modules of kvup for every file were three quarters of the unit tests' time. The files of a worker share them;
 * the set-up holds each file to leaving the process as it found it.
 */
const together = {
  isolate: false,
  setupFiles: ['test/leaves-no-traces.ts'],
  // Programs that are started find what the first of them compiled: a third of what a start takes.
  env: {
    TZ: 'UTC',
    NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url)),
  },
  // Short-lived objects are most of what there is: a tenth of the processor time is what the collector takes in threads that wait for each other.
  execArgv: ['--single-threaded-gc', '--max-semi-space-size=64'],
}

/** Whole simulated clusters, sockets, many runs: too slow for `npm run check`, which has to stay short to be run. */
const whole = [
  'test/lib/simulator/**/*.test.ts',
  'test/lib/docs/schema.test.ts',
  'test/lib/kubevirt/snapshots/*.test.ts',
  'test/lib/checks/simulated.test.ts',
  'test/lib/kube/**/*.test.ts',
  'test/lib/manifests/read-manifest.test.ts',
  'test/lib/output/narrow.test.ts',
  'test/lib/engine/killed.test.ts',
]

/** Another sample of deaths with each commit, the same one whenever it is run. */
process.env['KVUP_SEED'] ??= execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim()

export default defineConfig({
  test: {
    // By default one core is left over, which is half of a machine with two. A third of the time of a worker is waiting for programs that it started.
    maxWorkers: '150%',
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['text-summary', 'html'] },
    projects: [
      project('unit', ['test/*.test.ts', 'test/lib/**/*.test.ts'], {
        ...together,
        exclude: whole,
        testTimeout: 20_000,
      }),
      project('hermetic', ['test/{scenario,contract,transcripts,commands}/**/*.test.ts', ...whole], {
        ...together,
        globalSetup: 'test/commands/built/built.ts',
        testTimeout: 60_000,
        hookTimeout: 60_000,
      }),
      project('screens', ['test/screens/**/*.test.ts'], { ...together, testTimeout: 300_000 }),
      project('browser', ['test/browser/**/*.test.ts'], {
        ...together,
        testTimeout: 120_000,
        hookTimeout: 60_000,
      }),
      project('e2e', ['test/e2e/**/*.test.ts'], {
        testTimeout: 600_000,
        hookTimeout: 900_000,
        fileParallelism: false,
      }),
    ],
  },
})
