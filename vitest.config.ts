import { defineConfig } from 'vitest/config'

const project = (name: string, include: string[], more = {}) => ({
  extends: true as const,
  test: { name, include, ...more },
})

export default defineConfig({
  test: {
    coverage: { provider: 'v8', include: ['src/**'], reporter: ['text-summary', 'html'] },
    projects: [
      project('unit', ['test/*.test.ts', 'test/lib/**/*.test.ts']),
      project('hermetic', ['test/{scenario,contract,transcripts,commands}/**/*.test.ts'], {
        globalSetup: 'test/commands/built/built.ts',
        testTimeout: 60_000,
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
