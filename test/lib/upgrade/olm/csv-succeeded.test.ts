import { expect, test } from 'vitest'
import type { ClusterServiceVersion } from '../../../../src/lib/kube/kinds/operator-kinds.ts'
import type { Reader } from '../../../../src/lib/kube/cluster.ts'
import { csvSucceeded } from '../../../../src/lib/upgrade/methods/operator-rollout.ts'
import type { ReadContext } from '../../../../src/lib/engine/step.ts'
import { csv, nameOf, subscription } from '../../openshift/operator-lifecycle/lifecycle.ts'

const now = new Date('2026-11-20T08:30:00Z')
const hop = {
  package: 'kubevirt-hyperconverged',
  subscription: { namespace: 'openshift-cnv', name: 'hco-operatorhub', uid: 'u' },
  csv: nameOf('4.19.8'),
  version: '4.19.8',
  approveAlso: [],
  stableMs: 0,
}

/** What the step says of a CSV that is in this phase for so many seconds. */
function stateOf(phase: string, reason: string, message: string, seconds: number) {
  return stateFor({ phase, reason, message, lastTransitionTime: ago(seconds) })
}

const ago = (seconds: number): string => new Date(now.getTime() - seconds * 1000).toISOString()

function stateFor(status: NonNullable<ClusterServiceVersion['status']>) {
  const one = csv('4.19.8', status)
  const own = subscription({ installedCSV: nameOf('4.19.8') })
  const object = { ...own, metadata: { ...own.metadata, uid: 'u' } }
  const reader = {
    get: () => Promise.resolve({ is: 'object', object }),
    list: () => Promise.resolve([one]),
  } as unknown as Reader
  return csvSucceeded(hop).check({ reader, clock: { now: () => now } } as unknown as ReadContext)
}

test('a CSV that installs: the Deployment that OLM waits for is named', async () => {
  const waits = `waiting for deployment cdi-operator to become ready: deployment "cdi-operator" waiting for 1 outdated replica(s) to be terminated`
  const state = await stateOf('Installing', 'InstallWaiting', `installing: ${waits}`, 240)
  expect(state).toMatchObject({
    is: 'waiting',
    on: `clusterserviceversions/${hop.csv} (Installing): ${waits}`,
  })
})

test.each([
  ['for a minute that is in every update so', 59, undefined],
  ['longer than that it is told', 60, `RequirementsNotMet: one or more requirements couldn't be found`],
])('a CSV whose requirements are missing: %s', async (_name, seconds, trouble) => {
  const message = "one or more requirements couldn't be found"
  const state = await stateOf('Pending', 'RequirementsNotMet', message, seconds)
  expect(state.is).toBe('waiting')
  expect('trouble' in state ? state.trouble : undefined).toBe(trouble)
})

test.each([
  ['it has patience at first', 6, 'waiting', 'trouble'],
  ['after ten minutes it is a stall', 11, 'stalled', 'why'],
] as const)(
  'olm-real: a CSV is Failed for a second, and starts again: %s',
  async (_name, minutes, is, field) => {
    const history = [
      { phase: 'Succeeded', lastTransitionTime: ago(90 * 60) },
      { phase: 'Installing', reason: 'InstallWaiting', lastTransitionTime: ago(minutes * 60) },
      {
        phase: 'Failed',
        reason: 'InstallCheckFailed',
        message: 'install timeout',
        lastTransitionTime: ago(60),
      },
      { phase: 'Pending', reason: 'NeedsReinstall', lastTransitionTime: ago(60) },
    ]
    const state = await stateFor({
      phase: 'Installing',
      reason: 'InstallWaiting',
      lastTransitionTime: ago(30),
      conditions: history,
    })
    expect(state).toMatchObject({ is, [field]: 'InstallCheckFailed: install timeout' })
    const ended = await stateFor({ phase: 'Succeeded', conditions: history })
    expect(ended).toMatchObject({ is: 'done', note: expect.stringMatching(/^operator .* runs$/u) as string })
  },
)
