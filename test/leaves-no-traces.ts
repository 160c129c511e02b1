import { deepEqual } from 'node:assert/strict'
import { afterAll } from 'vitest'
import { throwAtDanger } from '../src/lib/kube/line-guard.ts'

throwAtDanger()

/** Test files share a process (`isolate: false` in vitest.config.ts): each has to leave it as it was found. */
const ends = ['SIGINT', 'SIGTERM', 'SIGCONT', 'SIGHUP', 'uncaughtException', 'exit'] as const
const traces = () => ({
  environment: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'))),
  folder: process.cwd(),
  listeners: Object.fromEntries(ends.map((event) => [event, process.listenerCount(event)])),
})

const found = traces()

afterAll(() => {
  deepEqual(traces(), found)
})
