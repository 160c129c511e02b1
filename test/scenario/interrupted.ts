import type { RunEvent } from '../../src/lib/engine/step.ts'
import { interrupted } from '../../src/lib/kube/errors.ts'
import type { Terminal } from './stage.ts'

/** Ctrl-C or SIGTERM as soon as the event is told. */
export function stopAt(signal: 'SIGINT' | 'SIGTERM', at: (event: RunEvent) => boolean): Terminal {
  const stop = new AbortController()
  return {
    signal: stop.signal,
    commandLine: 'kvup upgrade --to it --yes',
    onEvent: (event) => void (at(event) && stop.abort(interrupted(signal))),
  }
}
