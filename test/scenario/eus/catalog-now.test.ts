import { describe, expect, test } from 'vitest'
import {
  CatalogSources,
  PackageManifests,
  type Subscription,
  Subscriptions,
} from '../../../src/lib/kube/kinds/operator-kinds.ts'
import type { Reader } from '../../../src/lib/kube/cluster.ts'
import { Pods } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { catalogNow } from '../../../src/lib/eus/steps/operator-releases.ts'
import { PatienceByHealth } from '../../../src/lib/engine/step.ts'
import { ApiError } from '../../../src/lib/kube/errors.ts'
import { play, type Stage } from '../stage.ts'
import { small418 } from './window-stage.ts'

const offeredNow = (stage: Stage, reader: Reader = stage.cluster.reader) => {
  const [subscription]: readonly Subscription[] = stage.simulated.store.list(Subscriptions).items
  if (subscription === undefined) throw new Error('no Subscription')
  return catalogNow(reader, subscription, 'kvup eus run')
}

const refuse = () => Promise.reject(new ApiError(403, 'Forbidden', 'pods is forbidden'))

/** The cluster's reader, but for the answers to one kind. */
const instead = (stage: Stage, kind: string, answer: () => Promise<never[]>): Reader => {
  const { reader } = stage.cluster
  return new Proxy(reader, {
    get(target, name: keyof Reader) {
      const call = target[name] as (...args: unknown[]) => unknown
      return (...args: [{ kind: string }, ...unknown[]]) => {
        if (args[0].kind !== kind) return call.apply(target, args)
        return name === 'get' ? Promise.resolve({ is: 'absent' }) : answer()
      }
    },
  })
}

describe('night E4: an answer of the catalog counts only where it is the present one', () => {
  test('READY, with a ready pod of its image, and a head; else it waits, and is not taken for "no more"; pods that may not be read prove nothing', () =>
    play(small418, async (stage) => {
      await stage.until(60_000)
      const head = expect.stringMatching(/4\.18\.13$/u)
      expect(await offeredNow(stage)).toMatchObject({ is: 'answers', head })
      for (const [kind, why] of [
        [CatalogSources.kind, 'there is none of that name'],
        [PackageManifests.kind, 'no PackageManifest kubevirt-hyperconverged'],
        [Pods.kind, 'a ready pod of catalog redhat-operators with image'],
      ] as const) {
        const none = instead(stage, kind, async () => [])
        const found = await offeredNow(stage, none)
        expect(found.is).toBe('waits')
        expect(JSON.stringify(found)).toContain(why)
      }
      const hidden = await offeredNow(stage, instead(stage, Pods.kind, refuse))
      expect(hidden).toMatchObject({ is: 'waits', state: { is: 'stalled' } })
    }))
})

test('what is well is waited for long, what is wrong is given up so long after it went wrong', () => {
  const patience = new PatienceByHealth({ every: 1, well: 1000, wrong: 10 })
  expect(patience.atMost).toBe(1000)
  patience.saw('well', 5000)
  patience.saw('wrong', 5100)
  patience.saw('wrong', 5105)
  expect(patience.atMost).toBe(110)
  patience.saw('well', 5106)
  expect(patience.atMost).toBe(1000)
  patience.saw('wrong', 5995)
  expect(patience.atMost).toBe(1000)
})
