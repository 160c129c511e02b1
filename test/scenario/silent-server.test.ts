// Whole runs, each with as many silences as it has steps and changes: more than 3 s of processor time.
import { expect, test } from 'vitest'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import { unreachable } from '../../src/lib/kube/errors.ts'
import { Leases } from '../../src/lib/kube/kinds/core-kinds.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { eusRunOn, small418 } from './eus/window-stage.ts'
import { isEvery, shuffled } from './killed.ts'
import { all, inFolder, onePointFive, store } from './path.ts'
import { byTag, type Ended, minute, play, second, type Stage, type Terminal } from './stage.ts'

/** Longer than what comes at once is waited for, and than the term of the lock. */
const silence = 6 * minute

interface Calls {
  /** Of the API, but Lease and journal, in their order. */
  readonly made: ('lease' | 'write' | 'silence')[]
  fallSilent(): void
  /** What is about to get no answer: the next change, which is made, or the next look at the holder of the lock. */
  next?: 'answer' | 'holder' | undefined
}

/** A cluster that answers nothing once it fell silent, for so long; the change that was on its way is lost, or only its answer. */
function mortal(
  stage: Stage,
  onSilence = async (): Promise<unknown> => undefined,
): { cluster: Cluster; calls: Calls } {
  let until = -Infinity
  const made: Calls['made'] = []
  const fallsAt = async (what: Calls['next']) => {
    if (calls.next !== what) return
    calls.next = undefined
    calls.fallSilent()
    await onSilence()
  }
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
          const { kind = '' } = (given[0] ?? {}) as { kind?: string }
          if (name === 'get' && kind === 'Lease') await fallsAt('holder')
          await answer()
          note(kind)
          const result: unknown = await value.apply(target, given)
          if ('mergePatch' in target && kind !== 'Lease') await fallsAt('answer')
          await answer()
          return result
        }
      },
    })
  const { cluster } = stage
  const calls: Calls = {
    made,
    fallSilent() {
      made.push('silence')
      until = stage.now + silence
    },
  }
  return {
    cluster: {
      ...cluster,
      reader: through(cluster.reader, (kind) => void (kind === 'Lease' && made.push('lease'))),
      writer: through(cluster.writer, (kind) => void made.push(kind === 'Lease' ? 'lease' : 'write')),
      reviewer: cluster.reviewer,
    },
    calls,
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

const started = (event: RunEvent) => (event.kind === 'step-started' ? event.step.id : undefined)
/** Of the dearest one of both is drawn by the seed. */
const unanswered = ['answer', 'holder'] as const
const ofEus = shuffled(unanswered, String).slice(0, isEvery ? undefined : 1)
const cut = [
  ...unanswered.map((what) => ['image tag', what] as const),
  ...ofEus.map((what) => ['EUS', what] as const),
]

test.each(cut)(
  '%s: each change, or each look at the holder before one, that gets no %s is made once, and the run goes on',
  async (name, what) => {
    const [shape, run] = procedures[name] ?? []
    if (!shape || !run) throw new Error(name)
    await play(shape, async (stage) => {
      const { cluster, calls } = mortal(stage)
      const ended = await run(stage, {
        cluster,
        onEvent: (event) => void (started(event) && (calls.next = what)),
      })
      expect(ended.error?.message).toBeUndefined()
      expect(ended.code).toBe(0)
      const made = calls.made.join(' ')
      expect(made.match(/silence/gu)?.length).toBeGreaterThan(2)
      expect(made).not.toMatch(/silence write/u)
    })
  },
)

test.each(['answer', 'holder'] as const)(
  'who took the lock while no %s came keeps it: exit 6, and nothing more is written',
  async (what) => {
    await play(byTag, async (stage) => {
      const spec = { holderIdentity: 'ops@jump01', leaseTransitions: 9 }
      const { cluster, calls } = mortal(stage, () =>
        stage.cluster.writer.mergePatch(Leases, { name: 'kvup', namespace: 'kubevirt' }, { spec }),
      )
      const onEvent = (event: RunEvent) => void (started(event) === 'set-image-tag' && (calls.next = what))
      const ended = await stage.upgrade('v1.8.4', { stableFor, timeout }, { cluster, onEvent })
      expect(ended.code).toBe(6)
      expect(ended.error?.message).toContain('ops@jump01')
      expect(calls.made.join(' ')).toMatch(/silence(?: lease)*$/u)
    })
  },
)
