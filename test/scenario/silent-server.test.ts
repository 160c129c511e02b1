// Whole runs, each with as many silences as it has steps and changes: more than 3 s of processor time.
import { expect, test } from 'vitest'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { unreachable } from '../../src/lib/kube/errors.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { eusRunOn, small418 } from './eus/window-stage.ts'
import { all, inFolder, onePointFive, store } from './path.ts'
import { byTag, type Ended, minute, play, second, type Stage, type Terminal } from './stage.ts'

/** Longer than what comes at once is waited for, and than the term of the lock. */
const silence = 6 * minute

interface Calls {
  /** Of the API, but Lease and journal, in their order. */
  readonly made: ('lease' | 'write' | 'silence')[]
  fallSilent(): void
}

/** A cluster that answers nothing once it fell silent, for so long; the change that was on its way is lost, or only its answer. */
function mortal(stage: Stage): { cluster: Cluster; calls: Calls } {
  let until = -Infinity
  const made: Calls['made'] = []
  const answer = async () => {
    if (stage.now >= until) return
    await stage.clock.sleep(10 * second)
    throw unreachable('unreachable', 'connect ECONNREFUSED')
  }
  const through = <T extends object>(part: T, note: (kind: string) => void): T =>
    new Proxy(part, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        if (name === 'watch') return value.bind(target) as unknown
        if (name === 'pages')
          return async function* (...given: unknown[]) {
            await answer()
            yield* value.apply(target, given) as AsyncIterable<unknown>
          }
        return async (...given: unknown[]) => {
          await answer()
          note((given[0] as { kind?: string } | undefined)?.kind ?? '')
          return value.apply(target, given) as unknown
        }
      },
    })
  const { cluster } = stage
  return {
    cluster: {
      ...cluster,
      reader: through(cluster.reader, (kind) => void (kind === 'Lease' && made.push('lease'))),
      writer: through(cluster.writer, (kind) => void made.push(kind === 'Lease' ? 'lease' : 'write')),
      reviewer: cluster.reviewer,
    },
    calls: {
      made,
      fallSilent() {
        made.push('silence')
        until = stage.now + silence
      },
    },
  }
}

type Run = (stage: Stage, terminal: Terminal) => Promise<Ended>

const stableFor = '5s'
const timeout = '24d'
const olm = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1, olm: okdOlm() }

const procedures: Readonly<Record<string, readonly [shape: Parameters<typeof play>[0], run: Run]>> = {
  'image tag': [byTag, async (stage, terminal) => stage.upgrade('v1.8.4', { stableFor, timeout }, terminal)],
  OLM: [olm, async (stage, terminal) => stage.upgrade('1.18.1', { stableFor, timeout }, terminal)],
  path: [
    onePointFive,
    async (stage, terminal) => {
      store(stage, ...all)
      return stage.upgrade('v1.8.4', { manifest: undefined as never, ...inFolder, timeout }, terminal)
    },
  ],
  EUS: [small418, async (stage, terminal) => eusRunOn(stage, {}, terminal)],
}

test.each(Object.entries(procedures))(
  '%s: a server that falls silent at each look and each change ends no run, and the holder of the lock is read before the next write',
  async (_, [shape, run]) => {
    await play(shape, async (stage) => {
      const { cluster, calls } = mortal(stage)
      const silent = new Set<string>()
      const ended = await run(stage, {
        cluster,
        onEvent(event) {
          if (event.kind !== 'step-started' && event.kind !== 'step-applied') return
          // Those of another release are the same.
          const moment = `${event.kind} ${event.step.id.replace(/-v?\d[\d.]*$/u, '')}`
          if (silent.has(moment)) return
          silent.add(moment)
          calls.fallSilent()
        },
      })
      expect(ended.error?.message).toBeUndefined()
      expect(ended.code).toBe(0)
      expect(silent.size).toBeGreaterThan(10)
      expect(calls.made.join(' ')).not.toMatch(/silence write/u)
    })
  },
)
