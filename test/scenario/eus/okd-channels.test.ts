import { describe, expect, test } from 'vitest'
import { type EusPlanOptions, planEus } from '../../../src/commands/eus/eus-status.ts'
import { type Subscription, Subscriptions } from '../../../src/lib/kube/kinds/operator-kinds.ts'
import type { EusPlanDocument } from '../../../src/lib/eus/planned-eus.ts'
import { okdOlm, okdStableOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { servedCatalog } from '../../../src/simulator/olm/catalog-content.ts'
import { okd419 } from '../../../src/simulator/openshift/openshift-shape.ts'
import { servedGraph } from '../../../src/simulator/openshift/cluster-updates.ts'
import { type Ended, play, type Stage } from '../stage.ts'
import { doneSteps, eusRunOn, on419 } from './window-stage.ts'

const from = { installed: '1.15.2' }
const perMinor = okdOlm({ ...from, channel: 'stable-v1.15' })
const community = okdStableOlm(from)

/** Two minors of the operator behind its platform. */
const lagging = on419(okdOlm({ installed: '1.16.0', channel: 'stable-v1.16' }))
const behind = { ...lagging, openshift: { ...lagging.openshift, version: '4.22.0-okd-scos.3' } }

async function planOn(stage: Stage, options: Partial<EusPlanOptions> = {}): Promise<Ended> {
  return stage.perform((cx) => planEus(cx, { accept: [], ...options }), { commandLine: 'kvup eus plan' })
}

/** Against the file that a window on the stage is given else. */
const withoutCatalog = { catalogFile: undefined } as object

const planOf = ({ documents }: Ended) => documents.at(-1) as unknown as EusPlanDocument
const operatorsOf = (ended: Ended) => planOf(ended).hops.flatMap(({ operators }) => operators)
const found = (ended: Ended, id: string) =>
  planOf(ended)
    .findings.filter((finding) => finding.id === id)
    .map(({ level, summary }) => `${level}: ${summary}`)

function channelOf({ simulated }: Stage): string | undefined {
  const [subscription]: readonly Subscription[] = simulated.store.list(Subscriptions).items
  return subscription?.spec?.channel
}

describe('ocp 1.1: a channel for each minor', () => {
  test('each hop names the channel that it changes to, and whether the catalog offers it; the last has none yet', () =>
    play(on419(perMinor), async (stage) => {
      const ended = await planOn(stage, { to: '4.23' })
      expect(operatorsOf(ended).map(({ channel }) => channel)).toEqual([
        'stable-v1.16',
        'stable-v1.17',
        'stable-v1.18',
        undefined,
      ])
      expect(operatorsOf(ended).at(-1)?.chosenBecause).toBe(
        'chosen later: the head of the channel that belongs to 4.23, once the catalog offers it',
      )
      expect(ended.text).not.toContain('stable-v1.15 once')
      const changes = found(ended, 'operator-channel')
      expect(changes).toHaveLength(3)
      expect(changes[1]).toMatch(
        /^info: virtualization 1\.17\.3: .* becomes stable-v1\.17 instead of stable-v1\.16; catalog community-operators offers it$/u,
      )
      expect(found(ended, 'operator-channel-not-offered')).toEqual([
        expect.stringMatching(
          /^warning: virtualization 4\.23: catalog community-operators offers no channel of 4\.23 \(it has .*stable-v1\.18.*stable-v1\.18, the channel of Subscription \S+, has no release of it/u,
        ),
      ])
    }))

  test('of a hop with two releases of the operator the gate names the channel of each', () =>
    play(behind, async (stage) => {
      stage.files.set('later.yaml', servedCatalog(behind.olm, undefined))
      const ended = await planOn(stage, { to: '4.23', catalogFile: 'later.yaml' })
      expect(planOf(ended).hops[0]?.gate.operator.at(-1)).toBe(
        'the catalog offers channels stable-v1.17 and stable-v1.18',
      )
    }))

  test('where a channel of a known minor is missing it is named', () =>
    play(on419({ ...perMinor, channels: perMinor.channels.slice(-2) }), async (stage) => {
      const ended = await planOn(stage, { to: '4.21' })
      expect(operatorsOf(ended).at(-1)?.chosenBecause).toBe(
        'chosen later: the head of channel stable-v1.17, once the catalog offers it',
      )
      expect(found(ended, 'operator-channel-not-offered')[0]).toContain(
        'offers no channel of 4.21, such as stable-v1.17 (it has stable-v1.16, stable-v1.15)',
      )
    }))

  test('what a catalog file leads to is held to what the cluster offers', () =>
    play(on419({ ...perMinor, channels: perMinor.channels.slice(-1) }), async (stage) => {
      stage.files.set('later.yaml', servedCatalog(perMinor, undefined))
      const ended = await planOn(stage, { to: '4.20', catalogFile: 'later.yaml' })
      expect(operatorsOf(ended)).toMatchObject([{ version: '1.16.0', channel: 'stable-v1.16' }])
      expect(found(ended, 'operator-channel-not-offered')[0]).toContain(
        'catalog community-operators does not offer it now (it has stable-v1.15)',
      )
    }))

  test('the cluster does not show that the next minor is reached: asked, and accepted by name its channel is set', () =>
    play(on419(perMinor), async (stage) => {
      const typed = { graphFile: 'own.json', ...withoutCatalog }
      stage.files.set('own.json', servedGraph(okd419))
      const refused = await eusRunOn(stage, typed)
      expect(refused).toMatchObject({ code: 3, error: { reason: 'operator-path-unknown' } })
      expect(channelOf(stage)).toBe('stable-v1.15')
      const ended = await eusRunOn(stage, { ...typed, accept: ['operator-path-unknown'] })
      expect(ended.error).toBeUndefined()
      expect(channelOf(stage)).toBe('stable-v1.16')
      expect(doneSteps(ended)).toContain('approve-1.16.0')
    }))
})

describe('community-operators: one channel, in which a minor appears with the platform', () => {
  test('no channel is changed, and nothing is said to be missing: it comes with the catalog of the platform', () =>
    play(on419(community), async (stage) => {
      const ended = await planOn(stage, { to: '4.21' })
      expect(operatorsOf(ended).map(({ channel, chosenBecause }) => [channel, chosenBecause])).toEqual(
        ['4.20', '4.21'].map((minor) => [
          undefined,
          `chosen later: what OLM resolves in channel stable once the catalog is of ${minor}`,
        ]),
      )
      expect(ended.text).not.toContain('operator-channel')
      expect(found(ended, 'operator-path-unknown')).toHaveLength(1)
    }))

  test('with a catalog of the end it goes there in that channel', () =>
    play(on419(community), async (stage) => {
      stage.files.set('own.json', servedGraph(okd419))
      stage.files.set('later.yaml', servedCatalog(community, '4.20'))
      const ended = await eusRunOn(stage, { graphFile: 'own.json', catalogFile: 'later.yaml' })
      expect(ended.error).toBeUndefined()
      expect(doneSteps(ended)).toContain('approve-1.16.0')
      expect(channelOf(stage)).toBe('stable')
    }))
})
