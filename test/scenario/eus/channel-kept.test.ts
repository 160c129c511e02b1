import { expect, test } from 'vitest'
import { type Subscription, Subscriptions } from '../../../src/lib/kube/kinds/operator-kinds.ts'
import { okdOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { okd419 } from '../../../src/simulator/openshift/openshift-shape.ts'
import { servedGraph } from '../../../src/simulator/openshift/cluster-updates.ts'
import { play, type Stage } from '../stage.ts'
import { eusRunOn, on419 } from './window-stage.ts'

const others = [
  {
    package: 'node-maintenance-operator',
    channel: 'stable',
    approval: 'Manual' as const,
    installed: '5.4.0',
    entries: [
      { name: 'node-maintenance-operator.v5.4.0', version: '5.4.0' },
      {
        name: 'node-maintenance-operator.v5.4.1',
        version: '5.4.1',
        replaces: 'node-maintenance-operator.v5.4.0',
      },
    ],
  },
]
const olm = okdOlm({ installed: '1.15.2', channel: 'stable-v1.15', others })

function channelOf({ simulated }: Stage): string | undefined {
  const found: readonly Subscription[] = simulated.store.list(Subscriptions).items
  return found.find(({ spec }) => spec?.name === olm.package)?.spec?.channel
}

const back = (channel: string) =>
  new RegExp(`--type merge -p '\\{"spec":\\{"channel":"${channel}"\\}\\}' +restores the channel`, 'u')

test('kvup eus run on OKD: the same, for the hop of its minor', () =>
  play(on419(olm), async (stage) => {
    stage.files.set('own.json', servedGraph(okd419))
    const ended = await eusRunOn(stage, { graphFile: 'own.json' })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'plan-installs-more' } })
    expect(channelOf(stage)).toBe('stable-v1.16')
    expect(ended.text).toMatch(back('stable-v1.15'))
  }))
